"""Streams for comparing `auto` with other trackers, and corruptions of their rows.

Rows keep their units unless stated otherwise. Real streams in the groups are truncated to their
first 2,000 rows, except ELEC2, which is truncated to its last 2,000 rows.
"""

import numpy as np
import streams

SHORT = 2000


def archive(folder, name):
    return np.load(folder / f"{name}.npz")["rows"].astype(float)[:SHORT]


def scaled(rows):
    """Return the rows with each column divided by its standard deviation."""
    return rows / rows.std(axis=0)


def halved(images, side):
    """Return square images at half the resolution. Each pixel is the mean of four."""
    return images.reshape(-1, side // 2, 2, side // 2, 2).mean(axis=(2, 4)).reshape(len(images), -1)


def mnist(folder):
    return halved(np.load(folder / "mnist10k.npz")["X"][:SHORT].astype(float), 28)


def weather(folder):
    return streams.features(folder / "noaa_weather.csv")


def elec2(folder):
    return streams.features(folder / "elec2.csv")


def without_glitches(rows):
    """Return the rows of the weather stream without the outliers, whose pressure is 5,503."""
    return rows[rows[:, 2] < 2000]


def sines(n=30, rows=SHORT, seed=1):
    """Return n columns, each the sum of three sines with random phases, plus noise."""
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 2 * np.pi, (3, n))
    sizes = rng.uniform(0.5, 1.5, (3, n))
    time = np.arange(rows)[:, None]
    turns = [2 * np.pi * (time / period) * (1 + time / (4 * rows)) for period in (37, 101, 290)]
    signal = sum(size * np.sin(turn + phase) for turn, size, phase in zip(turns, sizes, phases))
    return signal + 0.1 * rng.standard_normal((rows, n))


def random_walk(n=20, rows=SHORT, seed=1):
    """Return a random walk in all directions, with large steps in a few of them."""
    rng = np.random.default_rng(seed)
    steps = rng.standard_normal((rows, n)) / np.arange(1, n + 1)
    return np.cumsum(steps, axis=0) @ np.linalg.qr(rng.standard_normal((n, n)))[0]


#: Streams that were known when the rules of `auto` were chosen: 16 cases with the default k.
IN_SIGHT = {
    "COIL-20": lambda folder: archive(folder, "coil20") / 255,
    "PeMS": lambda folder: archive(folder, "pems228"),
    "news": lambda folder: archive(folder, "news_counts"),
    "S&P": lambda folder: archive(folder, "sp500_returns"),
    "weather": lambda folder: scaled(weather(folder)[:SHORT]),
    "ELEC2": lambda folder: scaled(elec2(folder)[-SHORT:]),
}
#: Other real streams. Images have a quarter of their pixels, so that all trackers run in minutes.
OTHERS = {
    "USPS": lambda folder: streams.usps(folder)[:SHORT],
    "Yale-B": lambda folder: halved(streams.yale(folder), 32),
    "MNIST": mnist,
    "TEP": lambda folder: streams.tep(folder)[:SHORT],
    "SKAB": lambda folder: streams.skab(folder)[:SHORT],
    "EEG": lambda folder: np.load(folder / "smooth_rows.npy"),
}
MADE = {
    "three subspaces": lambda _: streams.three_subspaces(1),
    "drifting plane": lambda _: streams.drift(20, 2, SHORT, seed=1),
    "sines": lambda _: sines(),
    "random walk": lambda _: random_walk(),
    "iid": lambda _: streams.iid(20, 5, SHORT, seed=1),
}
GROUPS = {"in sight": IN_SIGHT, "other real streams": OTHERS, "made up": MADE}
#: Whole streams, on which `auto` is compared with its own members.
WHOLE = {
    "ELEC2": elec2,
    "ELEC2, scaled": lambda folder: scaled(elec2(folder)),
    "weather without glitches": lambda folder: without_glitches(weather(folder)),
    "weather without glitches, scaled": lambda folder: scaled(without_glitches(weather(folder))),
    "weather": weather,
    "weather, scaled": lambda folder: scaled(weather(folder)),
    "SKAB": streams.skab,
    "TEP": streams.tep,
    "Yale-B": streams.yale,
}
#: Index (from 0) of the first row with a pressure of 5,503. Its loss would dominate the totals.
GLITCHES = {"weather": 3595, "weather, scaled": 3595}
CORRUPTED = ["COIL-20", "S&P", "PeMS", "weather", "ELEC2"]


def rows_times(rows, rng, share, factor, origin=0.0):
    """Multiply the distances of random rows from `origin`. Return the rows and the corrupted indices."""
    places = rng.choice(np.arange(1, len(rows)), max(1, round(share * len(rows))), replace=False)
    bad = rows.copy()
    bad[places] = origin + factor * (rows[places] - origin)
    return bad, places


def sensor(rows, rng):
    """Return the index of a random column that is not constant."""
    return rng.choice(np.flatnonzero(rows.std(axis=0) > 0))


def spikes(rows, rng):
    """Add 50 standard deviations to one column in 1 % of the rows. Return the rows and indices."""
    column = sensor(rows, rng)
    places = rng.choice(np.arange(1, len(rows)), max(1, len(rows) // 100), replace=False)
    bad = rows.copy()
    bad[places, column] += 50 * rows[:, column].std()
    return bad, places


def sticks(rows, rng):
    """Let one column repeat its value for 50 rows. Return the rows and the corrupted indices."""
    column = sensor(rows, rng)
    start = int(rng.integers(1, len(rows) - 50))
    bad = rows.copy()
    bad[start : start + 50, column] = rows[start, column]
    return bad, np.arange(start, start + 50)


#: Corruptions by name. Each returns the corrupted rows and the indices of the rows that it changed.
CORRUPTIONS = {
    "one row × 100": lambda rows, rng: rows_times(rows, rng, 0, 1e2),
    "one row × 10⁴": lambda rows, rng: rows_times(rows, rng, 0, 1e4),
    "0.1 % of rows × 10": lambda rows, rng: rows_times(rows, rng, 0.001, 10),
    "1 % of rows × 10": lambda rows, rng: rows_times(rows, rng, 0.01, 10),
    "1 % of rows × 10 from the mean": lambda rows, rng: rows_times(rows, rng, 0.01, 10, rows.mean(axis=0)),
    "one sensor spikes": spikes,
    "one sensor sticks": sticks,
}
