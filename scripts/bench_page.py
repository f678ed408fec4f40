# SPDX-License-Identifier: Apache-2.0
"""The page that scripts/bench.sh writes: one file, with its plots as inline SVG and nothing from elsewhere.

A plot is a row for each entry: its name, a strip, and its figure. Positions in a strip are in percent, so that
it is as wide as the window allows while its marks and letters keep their size.
"""

import html
import math

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --quiet: #60676f; --line: #d9dde2;
  --heddle: #0b66c3; --rival: #8a929b; --limit: #1b7f4b; --missed: #b3400f; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171a; --ink: #e6e8ea; --quiet: #9aa3ac; --line: #343a41;
    --heddle: #5aa9f5; --rival: #808993; --limit: #4fc387; --missed: #f0895a; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .2rem; border-top: 1px solid var(--line);
  padding-top: 1rem; } h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p, ul { margin: .4rem 0; } .quiet { color: var(--quiet); font-size: .87rem; }
.row { display: grid; grid-template-columns: 17rem 1fr 14rem; gap: 0 .8rem; align-items: center; }
.row > :last-child { text-align: right; font-variant-numeric: tabular-nums; }
.row svg { display: block; width: 100%; height: 22px; overflow: visible; }
.heddle { color: var(--heddle); } .heddle > :first-child { font-weight: 600; } .rival { color: var(--rival); }
.limit { color: var(--limit); } .missed { color: var(--missed); } .met { color: var(--limit); }
.row > span { color: var(--ink); } .axis { color: var(--quiet); } .axis text { font-size: 11px; }
.goal { margin-bottom: .3rem; } .goal > :first-child { font-size: .87rem; }
.goal-line { stroke: var(--quiet); stroke-dasharray: 3 3; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 46rem) { .row { grid-template-columns: 1fr auto; margin-bottom: .35rem; }
  .row svg { grid-row: 2; grid-column: 1 / 3; } .axis > span { display: none; } }
"""


class Scale:
    """Where a value lies in a strip, in percent: by its logarithm where the values are far apart."""

    def __init__(self, values):
        values = [each for each in values if each is not None and math.isfinite(each)]
        positive = [each for each in values if each > 0]
        self.log = bool(positive) and max(positive) > 6 * min(positive) and len(positive) == len(values)
        if self.log:
            self.low, self.high = math.log10(min(positive)) - 0.05, math.log10(max(positive)) + 0.05
        else:
            self.low, self.high = min([0, *values]), max([1e-9, *values]) * 1.03

    def at(self, value):
        if self.log:
            value = math.log10(max(value, 1e-12))
        return min(100, max(0, 100 * (value - self.low) / (self.high - self.low)))

    def ticks(self):
        if self.log:
            powers = range(math.ceil(self.low), math.floor(self.high) + 1)
            ticks = [10.0**power for power in powers]
            if len(ticks) < 2:
                ticks = [factor * 10.0**power for power in range(math.floor(self.low), math.ceil(self.high) + 1)
                         for factor in (1, 2, 5)]
            step = -(-len(ticks) // 5)
            return [each for each in ticks[::step] if self.low <= math.log10(each) <= self.high]
        step = 10 ** math.floor(math.log10(self.high))
        step *= next(factor for factor in (0.2, 0.5, 1, 2) if self.high / (factor * step) <= 5.5 or factor == 2)
        return [k * step for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def strip(scale, least, low, middle, high, most, goal=None):
    """A line over all rounds, a bar over the middle of them, and a mark at the median."""
    at = scale.at
    line = "" if goal is None else (f'<line class="goal-line" x1="{at(goal):.2f}%" x2="{at(goal):.2f}%" y1="0" y2="22"/>')
    return (f'<svg aria-hidden="true">{line}'
            f'<line x1="{at(least):.2f}%" x2="{at(most):.2f}%" y1="11" y2="11" stroke="currentColor"/>'
            f'<rect x="{at(low):.2f}%" width="{max(at(high) - at(low), 0.3):.2f}%" y="5" height="12" rx="2" '
            f'fill="currentColor" fill-opacity=".45"/>'
            f'<line x1="{at(middle):.2f}%" x2="{at(middle):.2f}%" y1="2" y2="20" stroke="currentColor" '
            f'stroke-width="3"/></svg>')


def tick_label(value):
    return f"{value:,.0f}" if value >= 1 and value == int(value) else f"{value:g}"


def axis(scale):
    parts = []
    for tick in scale.ticks():
        x = scale.at(tick)
        anchor = "start" if x < 4 else "end" if x > 96 else "middle"
        parts.append(f'<line x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="5" stroke="currentColor"/>'
                     f'<text x="{x:.2f}%" y="17" text-anchor="{anchor}" fill="currentColor">{tick_label(tick)}</text>')
    return f'<div class="row axis"><span></span><svg aria-hidden="true">{"".join(parts)}</svg><span></span></div>'


def contest_plot(contest, number):
    entries = contest["entries"]
    scale = Scale([value for each in entries for value in each["rounds"]])
    rows = []
    for each in entries:
        figure = f"{number(each['median'])} {contest['unit']}"
        aside = f"CPU {number(each['cpu'])}" if each["cpu"] is not None else ""
        if each["to_reference"]["to"] != each["name"]:
            aside += f" · {number(each['to_reference']['median'])} ×"
        rows.append(f'<div class="row {each["role"]}"><span>{html.escape(each["name"])}</span>'
                    + strip(scale, min(each["rounds"]), each["quartiles"][0], each["median"], each["quartiles"][1],
                            max(each["rounds"])) + f'<span>{html.escape(figure)} <span class="quiet">{aside.removeprefix(" · ")}</span></span></div>')
    return "".join(rows) + axis(scale)


def goal_sentence(goal, number):
    if goal["met"] == "not measured":
        return f'<li class="quiet">{html.escape(goal["text"])}: not measured</li>'
    sign = "✓ met" if goal["met"] == "met" else "✗ missed"
    return (f'<li><span class="{goal["met"]}">{sign}</span>: {html.escape(goal["text"])}; it is {number(goal["median"])} '
            f'<span class="quiet">[{number(goal["low"])}, {number(goal["high"])}]</span></li>')


def goals_plot(run, number):
    """How far each goal is from being met: the interval divided by what it may be at most."""
    judged = [(f"{program['program'].removeprefix('bench_')}, {contest['title']}", goal) for program in run["programs"]
              for contest in program["contests"] for goal in contest["goals"] if goal["met"] != "not measured"]
    if not judged:
        return "<p>No question with a goal was asked.</p>"
    share = {id(goal): [max(goal[end] / goal["at_most"], 1e-3) for end in ("low", "median", "high")]
             for _, goal in judged}
    scale = Scale([1, 0.1, *(value for each in share.values() for value in each)])
    rows = []
    for place, goal in judged:
        low, middle, high = share[id(goal)]
        sign = "✓" if goal["met"] == "met" else "✗"
        rows.append(f'<div class="row goal {goal["met"]}"><span><span class="quiet">{html.escape(place)}</span><br>'
                    + f'{html.escape(goal["text"])}</span>' + strip(scale, low, low, middle, high, high, 1)
                    + f"<span>{sign} {number(high)}</span></div>")
    met = sum(goal["met"] == "met" for _, goal in judged)
    return (f"<p>{met} of {len(judged)} are met. A bar is the interval of the figure, divided by what it may be at most; "
            "a goal is met where the whole bar lies left of the line at 1; the figure is its right end.</p>" + "".join(rows) + axis(scale))


def changes_list(changed, number):
    if changed is None:
        return ""
    rows = "".join(f"<li>{'better' if now['median'] < before['median'] else 'worse'}: {html.escape(name)}: "
                   f"{number(before['median'])} → {number(now['median'])}</li>" for name, before, now in changed)
    return f"<h2>What changed beyond noise</h2><ul>{rows or '<li>nothing</li>'}</ul>"


def page(run, changed, number):
    facts = {"taken": run["taken"], "command": run["command"], **run["machine"]}
    parts = []
    for program in run["programs"]:
        parts.append(f"<h2>{html.escape(program['question'])}</h2>")
        if not program["answers_right"]:
            parts.append('<p class="missed">Some answers were WRONG.</p>')
        for contest in program["contests"]:
            parts.append(f"<h3>{html.escape(contest['title'])}</h3>" + contest_plot(contest, number))
            parts.append(f'<p class="quiet">CPU in the same unit; × is the ratio to “{html.escape(contest["reference"])}” within a round; '
                         f'{contest["round_count"]} rounds; other processes used {contest["foreign_cpu_percent"]:.0f} % '
                         'of the cores.</p>')
            if contest["goals"]:
                parts.append(f"<ul>{''.join(goal_sentence(each, number) for each in contest['goals'])}</ul>")
        for each in program["left_out"]:
            parts.append(f'<p class="quiet">{html.escape(each["rival"])} is left out: {html.escape(each["why"])}.</p>')
    listed = "".join(f"<dt class='quiet'>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>"
                     for name, value in facts.items())
    quick = ("<p class='missed'>Taken with --quick: few rounds and small sizes, not to be quoted.</p>"
             if run["quick"] else "")
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>heddle: benchmarks</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
            f"<h1>heddle: benchmarks</h1>{quick}<dl>{listed}</dl>"
            '<p class="quiet">All rivals take turns, round by round; only ratios within a run are evidence, since machines '
            "drift. A thin line spans all rounds, the bar the middle half of them, the mark is the median. "
            '<span class="heddle">heddle</span>, <span class="rival">rivals</span>, '
            '<span class="limit">limits</span>. Less is better everywhere.</p>'
            f"<h2>Goals</h2>{goals_plot(run, number)}{changes_list(changed, number)}{''.join(parts)}</body></html>\n")
