// The figures that a run is summed up in. Pure.
import { summary } from './stats.js';

/** How long they waited, of those that count. */
export const waitsOf = (run, members) =>
  summary(members.map((i) => run.wait(i)).filter((wait) => !Number.isNaN(wait)));

/** From coming to the end, evictions and what was done twice included; of those that ran and ended. */
function meanLife(run, members) {
  const ended = members.filter((i) => !run.neverStarted(i) && !Number.isNaN(run.done[i]));
  return summary(ended.map((i) => run.done[i] - run.report.arrived[i])).mean;
}

export function figuresOf(run) {
  const members = run.members();
  const waits = waitsOf(run, members);
  return {
    workloads: members.length,
    never: members.filter((i) => run.neverStarted(i)).length,
    waits,
    lifetime: meanLife(run, members),
    evictions: run.evictions.length,
    lost: run.evictions.reduce((sum, one) => sum + one.ran, 0),
    end: run.end,
  };
}
