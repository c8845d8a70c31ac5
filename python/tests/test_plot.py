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
