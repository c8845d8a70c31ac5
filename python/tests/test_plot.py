"""Pictures show the numbers of the ledger."""

import numpy as np
import pytest
from conftest import low_rank

import eigenhedge
from eigenhedge import OnlinePCA, plot


def test_losses_end_at_the_totals_of_the_ledger(rng):
    run = eigenhedge.run(low_rank(rng), 2, learner="anchored")
    drawn, expected, best, bound = plot.losses(run).lines
    assert drawn.get_ydata()[-1] == pytest.approx(run.ledger["loss"])
    assert expected.get_ydata()[-1] == pytest.approx(run.ledger["expected_loss"])
    assert best.get_ydata()[0] == run.ledger["best_loss"] and bound.get_ydata()[0] == run.ledger["bound"]


def test_portfolio_shows_the_weights(rng):
    run = eigenhedge.run(low_rank(rng), 2)
    for model in [run, run.model]:
        widths = [bar.get_width() for bar in plot.portfolio(model).patches]
        assert sum(widths) == pytest.approx(1) and len(widths) == len(run.ledger["members"])
    with pytest.raises(ValueError, match="only a portfolio"):
        plot.portfolio(eigenhedge.run(low_rank(rng), 2, learner="leader"))


def test_scree_shows_probabilities_that_total_k(rng):
    pca = OnlinePCA(2).fit(low_rank(rng))
    ax = plot.scree(pca)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(2, abs=1e-6)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), pca.explained_variance_ratio_)


def test_a_monitor_is_drawn_with_its_limits_events_and_columns(rng):
    X = rng.normal(size=(700, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(700, 5))
    X[500:530, 3] += 2.0
    alarms = eigenhedge.Monitor().update(X, contributions=True)
    hours = np.datetime64("2024-01-01") + np.arange(700) * np.timedelta64(1, "h")
    score, q, t2, columns, _ = plot.monitor(alarms, times=hours).axes
    for ax, values, limits in [
        (score, alarms.score, alarms.limit),
        (q, alarms.q, alarms.q_limit),
        (t2, alarms.t2, alarms.t2_limit),
    ]:
        assert ax.get_yscale() == "log"
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), values)
        np.testing.assert_array_equal(ax.lines[1].get_ydata(), limits)
        assert len(ax.lines) == 2 + len(alarms.changes) and len(ax.patches) == len(alarms.events) > 0
    cells = columns.collections[0].get_array().reshape(5, 700)
    assert cells[:, 515].argmax() == alarms.contributions[515].argmax()
    assert cells[3, 500:530].mean() > cells[3, 420:500].mean() + 0.3
    assert len(plot.monitor(eigenhedge.Monitor().update(X)).axes) == 3
    with pytest.raises(ValueError, match="a time for each of the 700 rows, got 699"):
        plot.monitor(alarms, times=hours[1:])
