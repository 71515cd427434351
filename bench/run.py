#!/usr/bin/env python3
"""Measures `sluice simulate` on Kueue's own performance inputs, and runs the microbenchmarks.

usage: run.py [engine | live | profile] --sluice BIN [--quick] [--runs N] [--only NAME]
              [--work FOLDER] [--micro FOLDER]
              [--rest-only | --crash [ROUNDS] | --serve [OBJECTS] | --stories [N] | --beside [N] |
               --overload]

For each input it runs the whole program N times (manifests parsed, decision log written to disk)
and prints the fastest run beside what Kueue's scheduler needs for the same input alone in one
process, and beside the quota-area bound that no schedule can beat. --quick: one run each, and
without the input of 500,000 workloads. The figures also go to FOLDER/results.json. Then a host is
measured over REST (FOLDER of --micro has rest/rest_bench); --rest-only: nothing else. --crash
kills a host under load ROUNDS times (default 1000), restarts it, and looks for what was lost;
nothing else. --stories plays N (default 10000) stories of a host on a virtual clock, with crashes,
against a naive model (tests/dst); nothing else. --beside plays N (default 500) random worlds with
Kueue's scheduler and with Sluice, and compares (tests/beside); nothing else. --overload asks ten
times more of a host than it can do, floods it, and holds thousands of watches of which many are
not read; nothing else. --serve fills a host with OBJECTS (default 200000) workloads, another with
half as many jobs and their workloads, and measures memory, restarts and rest; nothing else. `live`
plays the inputs against a host in real time over REST, with many clients; nothing else. `engine`
times the engine alone. `profile` draws where the processor time of such loads goes, one picture
each, into FOLDER/profile.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import generate  # noqa: E402  (beside this file)

# Kueue main of August 2026: cache, queues and scheduler in one process, without an API server,
# under a virtual clock, on a 2-core machine of the same kind as the figures in README.md.
KUEUE = {
    'baseline': {'wall': 16.7, 'admissions': 20850, 'evictions': 5850, 'virtual': 75.9},
    'large-scale': {'wall': 17.9, 'admissions': 50000, 'evictions': 0, 'virtual': 4.10},
}
RUNS = {'baseline': 7, 'large-scale': 5, 'large-scale-x10': 2}


def run_once(sluice, inputs, log):
    """One run of the whole program: its Summary and what it cost."""
    with open(log + '.out', 'w+', encoding='utf-8') as out:
        start = time.monotonic()
        process = subprocess.Popen([sluice, 'simulate', '--log', log, inputs], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        out.seek(0)
        lines = out.read().splitlines()
    if status != 0:
        sys.exit(f'error: sluice simulate {inputs} failed with status {status}')
    summary = json.loads(lines[-1])
    return {'wall': wall, 'user': usage.ru_utime, 'system': usage.ru_stime,
            'rss_mib': usage.ru_maxrss / 1024, 'cycles': summary['cycles'],
            'evictions': summary['evictions'], 'virtual': summary['virtualSeconds'],
            'summary': summary}


def count_admissions(log):
    with open(log, 'rb') as file:
        return sum(line.count(b'"type":"Admitted"') for line in file)


def measure(arguments, name):
    folder = os.path.join(arguments.work, name)
    log = os.path.join(arguments.work, name + '.log')
    print(f'{name}: generating', file=sys.stderr)
    generate.generate(name, folder)
    runs = []
    for number in range(arguments.runs or (1 if arguments.quick else RUNS[name])):
        runs.append(run_once(arguments.sluice, folder, log))
        print(f'{name}: run {number + 1}: {runs[-1]["wall"]:.2f} s', file=sys.stderr)
    best = min(runs, key=lambda run: run['wall'])
    best['wall_median'] = statistics.median(run['wall'] for run in runs)
    best['runs'] = len(runs)
    best['admissions'] = count_admissions(log)
    best['log_mib'] = os.path.getsize(log) / (1 << 20)
    scenario = generate.SCENARIOS[name]
    best['workloads'] = generate.workload_count(scenario)
    best['bound'] = generate.area_bound_seconds(scenario)
    return best


def row(name, ours):
    kueue = KUEUE.get(name, {})

    def beside(key, form):
        return f'{ours[key]:{form}} ({kueue[key]:{form}})' if kueue else f'{ours[key]:{form}}'

    faster = f'{kueue["wall"] / ours["wall"]:.0f}×' if kueue else ''
    return (name, f'{ours["workloads"]:,}', beside('wall', '.2f'), faster, f'{ours["user"]:.2f}',
            f'{ours["rss_mib"]:.0f}', beside('admissions', ','), beside('evictions', ','),
            f'{ours["cycles"]:,}', beside('virtual', '.2f'), f'{ours["bound"]:.2f}',
            f'{ours["virtual"] / ours["bound"]:.3f}')


HEAD = ('input', 'workloads', 'wall s (Kueue)', 'faster', 'user s', 'RSS MiB', 'admissions (Kueue)',
        'evictions (Kueue)', 'cycles', 'virtual s (Kueue)', 'bound s', 'virtual ÷ bound')


def print_table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    for number, cells in enumerate(rows):
        print('| ' + ' | '.join(cell.ljust(w) for cell, w in zip(cells, widths)) + ' |')
        if number == 0:
            print('|' + '|'.join('-' * (w + 2) for w in widths) + '|')


def run_micro(folder, options):
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            print(f'\n{name}', flush=True)
            run = subprocess.run([program, *options], stderr=subprocess.DEVNULL, check=False)
            if run.returncode:
                sys.exit(f'error: {program} failed')


def run_rest(arguments):
    program = os.path.join(arguments.micro, 'rest', 'rest_bench')
    work = os.path.join(arguments.work, 'rest')
    print(f'\n{program}', flush=True)
    options = ['--seconds', '2' if arguments.quick else '10']
    run = subprocess.run([program, '--sluice', arguments.sluice, '--work', work, '--json',
                          os.path.join(arguments.work, 'rest.json'), *options], check=False)
    if run.returncode:
        sys.exit(f'error: {program} failed; the log of the host is {work}/host.log')


def run_crash(arguments):
    program = os.path.join(arguments.micro, os.pardir, 'tests', 'crash_loop')
    done = subprocess.run([program, '--sluice', arguments.sluice, '--rounds', str(arguments.crash),
                           '--folder', os.path.join(arguments.work, 'crash')], check=False)
    return done.returncode


def run_stories(arguments):
    program = os.path.join(arguments.micro, os.pardir, 'tests', 'stories')
    jobs = str(len(os.sched_getaffinity(0)))
    done = subprocess.run([program, '--seeds', str(arguments.stories), '--jobs', jobs], check=False,
                          stderr=subprocess.DEVNULL)
    return done.returncode


def run_beside(arguments):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'tests', 'beside',
                           'beside.py')
    done = subprocess.run([sys.executable, program, '--sluice', arguments.sluice, '--work',
                           os.path.join(arguments.work, 'beside'), '--count',
                           str(arguments.beside)], check=False)
    return done.returncode


def run_overload(arguments):
    program = os.path.join(arguments.micro, 'overload', 'overload_bench')
    done = subprocess.run([program, '--sluice', arguments.sluice, '--work',
                           os.path.join(arguments.work, 'overload')], check=False)
    return done.returncode


def run_live(arguments):
    program = os.path.join(arguments.micro, 'live', 'live_bench')
    for name in [arguments.only] if arguments.only else ['baseline', 'large-scale']:
        inputs = os.path.join(arguments.work, name)
        generate.generate(name, inputs)
        kueue = KUEUE.get(name)
        beside = f' (in process, virtual time: {kueue["virtual"]} s)' if kueue else ''
        print(f'\n{name}, live{beside}', flush=True)
        done = subprocess.run([program, '--sluice', arguments.sluice, '--inputs', inputs, '--work',
                               os.path.join(arguments.work, 'live'), '--json',
                               os.path.join(arguments.work, f'live-{name}.json')], check=False)
        if done.returncode:
            return done.returncode
    return 0


def run_engine(arguments):
    program = os.path.join(arguments.micro, 'engine', 'engine_bench')
    print(f'\n{program}', flush=True)
    run = subprocess.run([program, *(['--quick'] if arguments.quick else [])], check=False)
    if run.returncode:
        sys.exit(f'error: {program} failed')
    return beside_kueue(program, arguments)


def build_kueue(work):
    """The program of bench/kueue; None, and a word why, where it cannot be built."""
    if not shutil.which('go'):
        print('\nKueue is not measured beside it: there is no go')
        return None
    program = os.path.abspath(os.path.join(work, 'kueue-bench'))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'kueue')
    print('\nbuilding Kueue\'s scheduler (minutes the first time)', file=sys.stderr)
    done = subprocess.run(['go', 'build', '-o', program, '.'], cwd=folder, check=False)
    if done.returncode:
        print('\nKueue is not measured beside it: go build failed')
        return None
    return program


def beside_kueue(program, arguments):
    """Both schedulers in the same minute, in turns; what is printed are medians."""
    kueue = build_kueue(arguments.work)
    if kueue is None:
        return 0
    print('\nEverything that waits fits; processor time for each decision'
          '\nqueues  workloads       Kueue µs  Sluice µs     ratio')
    ours = subprocess.run([program, '--part', 'drains', '--quick'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for queues, each, form, micros in re.findall(
            r'^ *(\d+) +(\d+) (plain|fair) +([\d.]+)$', ours, re.MULTILINE):
        options = ['--queues', queues, '--each', each] + (['--fair'] if form == 'fair' else [])
        runs = [subprocess.run([kueue, *options], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()[0] for _ in range(3)]
        theirs = statistics.median(float(run) for run in runs)
        print(f'{queues:>6} × {each:<5} {form:<8} {theirs:>12.1f} {float(micros):>10.2f} '
              f'{theirs / float(micros):>8.0f}×')
    return 0


def profiled_loads(arguments):
    """(name, title, command) of each load of which a picture is drawn."""
    inputs = {name: os.path.join(arguments.work, name) for name in ('baseline', 'large-scale')}
    for name, folder in inputs.items():
        generate.generate(name, folder)
        yield (f'simulate-{name}', f'sluice simulate, {name}',
               [arguments.sluice, 'simulate', '--log', os.path.join(arguments.work, name + '.log'),
                folder])
    live = [os.path.join(arguments.micro, 'live', 'live_bench'), '--sluice', arguments.sluice]
    for name, folder in inputs.items():
        yield (f'live-{name}', f'a host, {name} in real time over REST',
               [*live, '--inputs', folder, '--work', os.path.join(arguments.work, 'live')])
    rest = [os.path.join(arguments.micro, 'rest', 'rest_bench'), '--sluice', arguments.sluice,
            '--work', os.path.join(arguments.work, 'rest'), '--seconds', '5', '--only']
    for name, phase in (('workloads', 'create Workload, admitted'), ('jobs', 'create Job')):
        yield f'rest-{name}', f'a host, {phase}, 64 connections', [*rest, phase]


def run_profile(arguments):
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'profile', 'profile.py')
    folder = os.path.join(arguments.work, 'profile')
    os.makedirs(folder, exist_ok=True)
    for name, title, command in profiled_loads(arguments):
        if arguments.only and not name.endswith(arguments.only):
            continue
        done = subprocess.run([sys.executable, program, '--title', title, '--picture',
                               os.path.join(folder, name + '.svg'), '--', *command], check=False)
        if done.returncode:
            return done.returncode
    return 0


def run_serve(arguments):
    program = os.path.join(arguments.micro, 'serve', 'serve_bench')
    mixes = [('workloads', ['--workloads', str(arguments.serve), '--jobs', '0']),
             ('jobs', ['--workloads', '0', '--jobs', str(arguments.serve // 2), '--watches', '0'])]
    for name, options in mixes:
        print(f'\n{name}', flush=True)
        folder = os.path.join(arguments.work, 'serve', name)
        os.makedirs(folder, exist_ok=True)
        run = subprocess.run([program, '--sluice', arguments.sluice, '--folder', folder, *options],
                             check=False)
        if run.returncode:
            return run.returncode
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('part', nargs='?', choices=['engine', 'live', 'profile'],
                        help='nothing else')
    parser.add_argument('--sluice', required=True)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--runs', type=int)
    parser.add_argument('--only', choices=sorted(generate.SCENARIOS))
    parser.add_argument('--work', default='build/bench')
    parser.add_argument('--micro', help='folder of microbenchmark programs')
    parser.add_argument('--rest-only', action='store_true')
    parser.add_argument('--crash', type=int, nargs='?', const=1000, metavar='ROUNDS')
    parser.add_argument('--stories', type=int, nargs='?', const=10_000, metavar='N')
    parser.add_argument('--beside', type=int, nargs='?', const=500, metavar='N')
    parser.add_argument('--overload', action='store_true')
    parser.add_argument('--serve', type=int, nargs='?', const=200_000, metavar='OBJECTS')
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    if arguments.part == 'live':
        return run_live(arguments)
    if arguments.part == 'engine':
        return run_engine(arguments)
    if arguments.part == 'profile':
        return run_profile(arguments)
    if arguments.rest_only:
        return run_rest(arguments)
    if arguments.crash:
        return run_crash(arguments)
    if arguments.stories:
        return run_stories(arguments)
    if arguments.beside:
        return run_beside(arguments)
    if arguments.overload:
        return run_overload(arguments)
    if arguments.serve:
        return run_serve(arguments)
    names = [arguments.only] if arguments.only else list(generate.SCENARIOS)
    if arguments.quick and not arguments.only:
        names.remove('large-scale-x10')
    results = {name: measure(arguments, name) for name in names}
    with open(os.path.join(arguments.work, 'results.json'), 'w', encoding='utf-8') as file:
        json.dump(results, file, indent=1)
    print_table([HEAD, *(row(name, ours) for name, ours in results.items())])
    if arguments.micro:
        run_micro(arguments.micro, ['--benchmark_min_time=0.05'] if arguments.quick else [])
        run_engine(arguments)
        run_rest(arguments)
    return None


if __name__ == '__main__':
    sys.exit(main())
