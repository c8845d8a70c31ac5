"""Check the claims about speed and loss on the results of one run of the benchmark.

The ratio of a stream is the median over laps of the peer's time per row divided by ours. A claim is
about the median of the ratios of its streams. The smallest one is printed too. Ratios of tracking
with fixed share are printed without a verdict.
"""

from statistics import median

TRACKING, FIXED_SHARE = "eigenhedge tracking", "eigenhedge tracking, fixed share"
ROW_BY_ROW, BATCHES = "IncrementalPCA, batches of 1", "IncrementalPCA, batches of 256"
WORDS = {True: "ok  ", False: "FAIL", None: "note"}
DRIFTING = ["drift", "switch", "recurring", "starvation"]


def ratios(case, peer, ours):
    """Return the peer's time divided by ours for each lap that both ran."""
    return [theirs / own for theirs, own in zip(case["seconds"][peer], case["seconds"][ours])]


def verdict(claim, number, least, what, spread=None):
    return {"claim": claim, "number": number, "least": least, "what": what, "spread": spread, "holds": bool(number >= least)}


def faster(cases, peer, ours, times, n):
    """Return the verdict on `ours` being `times` times faster than `peer`, or None without data."""
    here = [case for case in cases if case["n"] == n and case["k"] == 10 and case["stream"] in ["iid", *DRIFTING]]
    if not here:
        return None
    each = {case["stream"]: median(ratios(case, peer, ours)) for case in here}
    worst = min(each, key=each.get)
    laps = [lap for case in here for lap in ratios(case, peer, ours)]
    claim = f"{ours}: {'' if times == 1 else f'{times} times '}faster a row than {peer}, n={n}, k=10"
    return verdict(claim, median(each.values()), times, f"times, {each[worst]:.4g} on {worst}", [min(laps), max(laps)])


def told(each):
    """Return the measurement marked as a note, which cannot fail."""
    return each and {**each, "holds": None}


def loses_less(cases, stream, allowed):
    """Return the verdict on the loss of `auto` compared with IncrementalPCA, or None without data."""
    for case in cases:
        if (case["n"], case["k"], case["stream"]) == (64, 10, stream) and case["losses"][ROW_BY_ROW] is not None:
            ratio = case["losses"]["eigenhedge auto"] / case["losses"][ROW_BY_ROW]
            claim = f"eigenhedge auto: at most {allowed:g} times the loss of {ROW_BY_ROW}, {stream}, n=64, k=10"
            return {"claim": claim, "number": ratio, "most": allowed, "what": "times the loss", "spread": None,
                    "holds": bool(ratio <= allowed)}  # fmt: skip
    return None


def kernel_claims(kernel):
    if not kernel:
        return []
    ours, refit = "kernel tracking, 500 atoms", "KernelPCA refit, arpack"
    peer = "Nystroem(500) on the first 500 rows + IncrementalPCA"
    laps = [kernel[peer]["lowest ratio"], kernel[peer]["highest ratio"]]
    losses = [kernel[each]["loss from row 500"] for each in (ours, peer)]
    return [
        verdict(f"kernel tracking at row 2000: 500 times cheaper than a {refit}", kernel[refit]["ratio"], 500, "times"),
        verdict(f"{ours}: 10 times faster a row than {peer} row by row", kernel[peer]["ratio"], 10, "times", laps),
        {"claim": f"{ours}: less loss from row 500 on than {peer}", "number": losses[0] / losses[1], "most": 1.0,
         "what": "times the loss", "spread": None, "holds": bool(losses[0] < losses[1])},
    ]  # fmt: skip


def judge(results):
    cases, found = results.get("linear", []), []
    for peer, times, n in [(BATCHES, 1, 64), (BATCHES, 1, 1024), (ROW_BY_ROW, 100, 64)]:
        found.append(faster(cases, peer, TRACKING, times, n))
        found.append(told(faster(cases, peer, FIXED_SHARE, times, n)))
    found.append(faster(cases, ROW_BY_ROW, "eigenhedge auto", 10, 64))
    found.append(faster(cases, ROW_BY_ROW, "eigenhedge auto", 6, 1024))
    found += [loses_less(cases, stream, 1.0) for stream in DRIFTING]
    found.append(loses_less(cases, "iid", 1.05))
    if "textbook" in results:
        laps = results["textbook"]["ratios"]
        claim = "eigenhedge tracking: 1000 times faster a row than the dense Algorithm 5, n=512, k=10"
        found.append(verdict(claim, results["textbook"]["ratio"], 1000, "times", [min(laps), max(laps)]))
    found += kernel_claims(results.get("kernel", {}))
    for name, case in results.get("table", {}).items():
        claim = f"eigenhedge auto: at most 1.05 times its best member plus the hedge term, {name}"
        found.append({"claim": claim, "number": case["auto"], "most": case["allowed"], "what": "loss", "spread": None,
                      "holds": bool(case["auto"] <= case["allowed"])})  # fmt: skip
    return [each for each in found if each is not None]


def peers_that_win(results):
    """Yield a sentence for each case in which a peer is faster or loses less."""
    for case in results.get("linear", []):
        peers = [label for label in case["seconds"] if not label.startswith("eigenhedge")]
        quick = [f"{p} ({median(ratios(case, p, TRACKING)):.2f} times the time of tracking)" for p in peers
                 if median(ratios(case, p, TRACKING)) < 1]  # fmt: skip
        auto = case["losses"]["eigenhedge auto"]
        less = [f"{p} ({case['losses'][p] / auto:.3f} times the loss of auto)" for p in peers
                if auto is not None and case["losses"][p] is not None and case["losses"][p] < auto]  # fmt: skip
        if quick or less:
            yield f"{case['stream']}, n = {case['n']}, k = {case['k']}: {', '.join(quick + less)}"
    for name, case in results.get("table", {}).items():
        if case["IncrementalPCA"] < case["auto"]:
            ratio = case["IncrementalPCA"] / case["auto"]
            yield f"{name}, n = {case['n']}, k = {case['k']}: IncrementalPCA, batches of k ({ratio:.3f} times the loss of auto)"


def sentence(each):
    limit = f"at least {each['least']:g}" if "least" in each else f"at most {each['most']:.4g}"
    spread = f", laps {each['spread'][0]:.4g} to {each['spread'][1]:.4g}" if each["spread"] else ""
    return f"{each['claim']}: {each['number']:.4g} {each['what']} ({limit}{spread})"


def show(found):
    print("\nverdicts")
    for each in found:
        print(f"  {WORDS[each['holds']]} {sentence(each)}")


def show_peers_that_win(results):
    print("\nwhere a peer wins")
    for line in peers_that_win(results):
        print(f"  {line}")
