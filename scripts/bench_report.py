# SPDX-License-Identifier: Apache-2.0
"""For scripts/bench.sh: joins the figures of the benchmark programs, and shows them.

  bench_report.py --out DIR --command WORDS [--compare OLD.json] FIGURES.json…
      writes DIR/bench.json and DIR/bench.html, and prints one table
  bench_report.py --check FILE.json
      exit code 2 with a sentence where FILE.json is not such a bench.json
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

from bench_page import page

FORMAT = 1  # of bench.json
DISTURBED = 10  # percent of the cores that other processes may use


def number(value):
    """Three digits or four that count, and no exponent."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 2 else 3}f}"


def between(low, high):
    return f"[{number(low)}, {number(high)}]"


def refuse(why):
    print(f"bench.sh: {why}", file=sys.stderr)
    sys.exit(2)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
    except (OSError, ValueError) as error:
        refuse(f"{path} cannot be read as figures ({error}): give --compare the bench.json of an earlier run")
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        refuse(f"{path} is not a bench.json of this version: give --compare one that scripts/bench.sh wrote")
    return run


def output_of(*command):
    """What a command prints; nothing where it fails."""
    try:
        here = pathlib.Path(__file__).parent
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=here).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    def first(path, key):
        try:
            lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        except OSError:
            return ""
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")

    return {
        "cpu": first("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": first("/proc/meminfo", "MemTotal"),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "starpu": output_of("pkg-config", "--modversion", "starpu-1.3") or "none",
        "heddle": output_of("git", "describe", "--always", "--dirty") or "unknown",
    }


def name_of(program):
    return program["program"].removeprefix("bench_")


def contests(run):
    for program in run["programs"]:
        for contest in program["contests"]:
            yield program, contest


def print_table(run):
    head = ("", "median", "[quartiles]", "CPU", "x limit", "[interval]", "x best rival", "[interval]")
    form = "{:<34.34} {:>8} {:<17} {:>8} {:>8} {:<16} {:>12} {:<16}"
    print("\n" + form.format(*head))
    met = judged = 0
    for program, contest in contests(run):
        disturbed = contest["foreign_cpu_percent"] > DISTURBED
        print(f"{name_of(program)}: {contest['title']} ({contest['unit']})"
              + (f"   DISTURBED: others used {contest['foreign_cpu_percent']:.0f} % of the cores" if disturbed else ""))
        for entry in contest["entries"]:
            if entry["role"] != "heddle":
                continue
            cells = [number(entry["cpu"])]
            for ratio in (entry["to_reference"] if contest["has_limit"] else None, entry.get("to_best_rival")):
                cells += [number(ratio["median"]), between(ratio["low"], ratio["high"])] if ratio else ["", ""]
            print(form.format("  " + entry["name"], number(entry["median"]), between(*entry["quartiles"]), *cells))
        for goal in contest["goals"]:
            if goal["met"] != "not measured":
                judged += 1
                met += goal["met"] == "met"
                print(f"    {goal['met']}: {goal['text']}; it is {number(goal['median'])} "
                      f"{between(goal['low'], goal['high'])}")
    for program in run["programs"]:
        if not program["answers_right"]:
            print(f"WRONG ANSWERS: {program['program']}")
    missing = {each["rival"]: each["why"] for program in run["programs"] for each in program["left_out"]}
    for rival, why in missing.items():
        print(f"{rival} is left out: {why}")
    print(f"{met} of {judged} goals met"
          + ("; --quick is for looking: its few rounds prove little" if run["quick"] else ""))


def ratios(run):
    """What can be compared across runs, by name: ratios within a round, of heddle's entries, and goals."""
    found = {}
    for program, contest in contests(run):
        place = f"{name_of(program)}, {contest['title']}"
        for entry in contest["entries"]:
            for ratio in (entry["to_reference"], entry.get("to_best_rival")):
                if entry["role"] == "heddle" and ratio and ratio["to"] != entry["name"]:
                    found[f"{place}: {entry['name']}, x {ratio['to']}"] = ratio
        for goal in contest["goals"]:
            if goal["met"] != "not measured":
                found.setdefault(f"{place}: {goal['name']}", goal)
    return found


def changes(old, new):
    """Those whose intervals have no value in common, the largest change first."""
    before, now = ratios(old), ratios(new)
    changed = [(name, before[name], now[name]) for name in before.keys() & now.keys()
               if before[name]["high"] < now[name]["low"] or now[name]["high"] < before[name]["low"]]
    return sorted(changed, key=lambda each: each[2]["median"] / (each[1]["median"] or 1e-12))


def print_changes(changed, old):
    print(f"\nwhat changed beyond noise since {old['taken']} ({old['machine']['heddle']}); less is better")
    for name, before, now in changed:
        better = "better" if now["median"] < before["median"] else "WORSE"
        print(f"  {better}  {number(before['median'])} {between(before['low'], before['high'])} -> "
              f"{number(now['median'])} {between(now['low'], now['high'])}   {name}")
    if not changed:
        print("  nothing")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--check", metavar="FILE.json")
    arguments.add_argument("--out", type=pathlib.Path)
    arguments.add_argument("--command", default="")
    arguments.add_argument("--compare", metavar="OLD.json")
    arguments.add_argument("figures", nargs="*")
    given = arguments.parse_args()
    if given.check:
        load(given.check)
        return
    if not given.out or not given.figures:
        arguments.error("--out and files of figures are needed")
    programs = [json.loads(pathlib.Path(each).read_text(encoding="utf-8")) for each in given.figures]
    run = {
        "format": FORMAT,
        "taken": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": given.command,
        "quick": any(each["quick"] for each in programs),
        "machine": machine() | {"compiler": programs[0]["compiler"], "tbb": programs[0]["tbb"]},
        "programs": programs,
    }
    old = load(given.compare) if given.compare else None
    if old and old["quick"] != run["quick"]:
        print("bench.sh: one of the two runs is --quick, the other is not: sizes differ, and little can be compared",
              file=sys.stderr)
    if old and old["machine"]["cpu"] != run["machine"]["cpu"]:
        print(f"bench.sh: the earlier run was on another machine ({old['machine']['cpu']})", file=sys.stderr)
    changed = changes(old, run) if old else None

    (given.out / "bench.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    (given.out / "bench.html").write_text(page(run, changed, number), encoding="utf-8")
    if old:
        print_changes(changed, old)
    else:
        print_table(run)
    print(f"{given.out}/bench.html, {given.out}/bench.json")


if __name__ == "__main__":
    main()
