#!/usr/bin/env python3
"""What `./dev bench profile` draws is what was recorded: names, shares, and a picture that can be
read."""

import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench', 'profile'))
import picture  # noqa: E402
import profile  # noqa: E402

SVG = '{http://www.w3.org/2000/svg}'


class Names(unittest.TestCase):
    def test_functions_lose_namespace_arguments_and_template_parameters(self):
        for symbol, name in (
                ('sluice::host::Kernel::run(unsigned long)', 'Kernel::run'),
                ('sluice::host::(anonymous namespace)::load(std::string const&)', 'load'),
                ('sluice::api::append_json[abi:cxx11](boost::json::value const&)', 'append_json'),
                ('std::vector<int, std::allocator<int> > sluice::Model::all<int>() const',
                 'Model::all')):
            self.assertEqual(name, profile.short(symbol))

    def test_a_stack_is_of_our_functions_and_ends_in_a_library(self):
        ours = ('sluice::host::Kernel::run(unsigned long)', '/bin/sluice')
        inner = ('sluice::host::text_of(boost::json::object const&)', '/bin/sluice')
        std = ('std::string::append(char const*)', '/bin/sluice')
        malloc = ('[unknown]', '/lib/libtbbmalloc.so.2.8')
        start = ('__libc_start_main', '/lib/libc.so.6')
        # As perf has them, the innermost first.
        for frames, stack in (([malloc, std, inner, ours, start],
                               ['Kernel::run', 'text_of', 'allocator']),
                              ([std, inner, ours], ['Kernel::run', 'text_of']),
                              ([inner, inner, ours], ['Kernel::run', 'text_of']),  # recursion
                              ([start], [])):
            self.assertEqual(stack, profile.stack_of(frames))


class Pictures(unittest.TestCase):
    def setUp(self):
        # 1,000 samples: 3 of `rare` are 0.3 %, which is not drawn.
        self.tree = picture.tree_of([('control', ['step', 'run'])] * 600 +
                                    [('control', ['step', 'a<b>'])] * 100 +
                                    [('store', ['commit', 'SQLite'])] * 297 +
                                    [('store', ['rare'])] * 3)

    def test_a_box_is_as_wide_as_its_share(self):
        root = xml.etree.ElementTree.fromstring(picture.svg(self.tree, 'a & b', 2.5))
        self.assertEqual('a & b: 2.5 s of processor time', root.find(SVG + 'title').text)
        boxes = {group.find(SVG + 'title').text: float(group.find(SVG + 'rect').get('width'))
                 for group in root.iter(SVG + 'g')}
        self.assertEqual({'all threads: 100.0 %', 'control: 70.0 %', 'step: 70.0 %', 'run: 60.0 %',
                          'a<b>: 10.0 %', 'store: 30.0 %', 'commit: 29.7 %', 'SQLite: 29.7 %'},
                         set(boxes))
        self.assertAlmostEqual(0.6 * picture.WIDTH, boxes['run: 60.0 %'], delta=1)
        self.assertAlmostEqual(0.1 * picture.WIDTH, boxes['a<b>: 10.0 %'], delta=1)

    def test_callees_stand_below_their_caller_and_within_it(self):
        root = xml.etree.ElementTree.fromstring(picture.svg(self.tree, '', 1))
        place = {group.find(SVG + 'title').text.split(':')[0]: group.find(SVG + 'rect')
                 for group in root.iter(SVG + 'g')}
        left = lambda name: float(place[name].get('x'))  # noqa: E731
        right = lambda name: left(name) + float(place[name].get('width'))  # noqa: E731
        for caller, callee in (('all threads', 'store'), ('store', 'commit'), ('commit', 'SQLite')):
            self.assertEqual(int(place[caller].get('y')) + picture.ROW, int(place[callee].get('y')))
            self.assertLessEqual(left(caller), left(callee))
            self.assertLessEqual(right(callee), right(caller) + 0.1)

    def test_the_text_has_the_same(self):
        self.assertEqual(['100.0 all threads', ' 70.0   control', ' 70.0     step',
                          ' 60.0       run', ' 10.0       a<b>', ' 30.0   store',
                          ' 29.7     commit', ' 29.7       SQLite'],
                         picture.text(self.tree).splitlines())


if __name__ == '__main__':
    unittest.main()
