#!/usr/bin/env python3
"""Every function that crosses the line carries exactly one thread tag.

usage: thread_tags_test.py INCLUDE_FOLDER

A tag belongs to a function when it stands in the comment before it, in the comment behind it on its
last line, or (for a function of the struct's own) nowhere else. Prints each breach, exits 1 if any.
"""

import os
import re
import sys

TAG = re.compile(r'\[(load|control|cycle|any)\]')
FUNCTION = re.compile(r'\(\*(\w+)\)\s*\(')


def functions(text):
    """(name, line, text of the comments that belong to it) of each function pointer member."""
    # Pieces in order: comments and declarations up to ; { or }.
    pieces = re.finditer(r'/\*.*?\*/|[^;{}/]+[;{}]?|/', text, re.DOTALL)
    found, before = [], ''
    for piece in pieces:
        part, line = piece.group(), text.count('\n', 0, piece.start()) + 1
        if part.startswith('/*'):
            same_line = '\n' not in text[max(text.rfind(';', 0, piece.start()), 0):piece.start()]
            if same_line and found and text[:piece.start()].rstrip().endswith(';') and not before:
                found[-1][2] += part
            else:
                before += part
            continue
        match = FUNCTION.search(part)
        if match and not part.lstrip().startswith('typedef'):
            found.append([match.group(1), line, before])
        if part.rstrip().endswith((';', '{', '}')):
            before = ''
    return found


def main(root):
    breaches = count = 0
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(n for n in names if n.endswith('.h')):
            path = os.path.join(folder, name)
            with open(path, encoding='utf-8') as file:
                text = file.read()
            for function, line, comment in functions(text):
                count += 1
                tags = TAG.findall(comment)
                if len(tags) != 1:
                    print(f'{path}:{line}: {function} has {len(tags)} thread tags, not one')
                    breaches += 1
    print(f'{count} functions')
    return 1 if breaches or count < 40 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
