"""Alarms, causes and change points on sensors with planted faults.

Eight sensors follow two causes. One is off for 30 rows, one is stuck for 40, and one changes its level for good. The monitor is
told nothing of them.
"""

import numpy as np

import eigenhedge

rng = np.random.default_rng(0)
X = 20.0 + rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(3000, 8))
X[1500:1530, 1] += 3.0
X[2100:2140, 2] = X[2100, 2]
X[2700:, 3] += 3.0

alarms = eigenhedge.Monitor().update(X)
for event in sorted(alarms.events, key=lambda event: -event["alarms"])[:2]:
    column, share = event["causes"][0]
    print(f"rows {event['start']} to {event['end']}: {event['alarms']} alarms, column {column} first ({share:.0%} of Q)")
for change in alarms.changes:
    print(f"{change['kind']} at row {change['start']}, found at row {change['end']}")

assert {event["causes"][0][0] for event in sorted(alarms.events, key=lambda event: -event["alarms"])[:2]} == {1, 2}
assert any(change["kind"] == "rise" and abs(change["start"] - 2700) < 10 for change in alarms.changes)
assert alarms.alarm[400:1500].mean() < 0.03
