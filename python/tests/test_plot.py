"""Tests that plots show the numbers of the results."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import low_rank
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenhedge
from eigenhedge import OnlineKernelPCA, OnlinePCA, plot
from eigenhedge._summary import rounded


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def test_losses_end_at_the_totals_of_the_ledger(rng):
    run = eigenhedge.run(low_rank(rng, rows=3000), 2, learner="anchored")
    drawn, expected, best, bound = plot.losses(run).lines
    for line, total in [(drawn, run.summary["loss"]), (expected, run.summary["expected_loss"])]:
        assert len(line.get_xdata()) == 1000 and line.get_xdata()[-1] == 2999
        assert line.get_ydata()[-1] == pytest.approx(total)
    assert best.get_ydata()[0] == run.summary["best_loss"] and bound.get_ydata()[0] == run.summary["bound"]


def test_a_bound_far_above_the_losses_does_not_flatten_them(rng):
    run = eigenhedge.run(low_rank(rng, noise=0.001), 3, learner="tracking", norm_bound=1e4, center=False)
    ax = plot.losses(run)
    assert run.summary["bound"] > 100 * run.summary["loss"]
    assert ax.get_ylim()[1] < 3 * run.summary["loss"]
    assert f"bound {rounded(run.summary['bound'])}, above the picture" in [
        text.get_text() for text in ax.get_legend().get_texts()
    ]


def test_portfolio_shows_the_weights(rng):
    run = eigenhedge.run(low_rank(rng), 2)
    for model in [run, run.model]:
        widths = [bar.get_width() for bar in plot.portfolio(model).patches]
        assert sum(widths) == pytest.approx(1) and len(widths) == len(run.summary["members"])
    with pytest.raises(ValueError, match="only a portfolio"):
        plot.portfolio(eigenhedge.run(low_rank(rng), 2, learner="leader"))


def test_scree_shows_shares_their_sums_and_probabilities(rng):
    pca = OnlinePCA(3).fit(low_rank(rng))
    ax = plot.scree(pca)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], pca.explained_variance_ratio_)
    cumulative, kept = ax.lines
    np.testing.assert_allclose(cumulative.get_ydata(), np.cumsum(pca.explained_variance_ratio_))
    np.testing.assert_allclose(kept.get_ydata(), pca.inclusion_)
    assert len(plot.scree(OnlinePCA(3, hindsight=False).fit(low_rank(rng))).lines) == 1


def test_loadings_are_the_components_under_their_names(rng):
    frame = pd.DataFrame(low_rank(rng), columns=list("abcdefgh"))
    for model, components in [
        (pca := OnlinePCA(2).fit(frame), pca.components_),
        (run := eigenhedge.run(frame, 2), run.model.components),
    ]:
        ax = plot.loadings(model)
        np.testing.assert_array_equal(ax.images[0].get_array(), components)
        assert [label.get_text() for label in ax.get_xticklabels()] == list("abcdefgh")
    assert plot.loadings(pca, names=["a" * 20, *"BCDEFGH"]).get_xticklabels()[0].get_text() == "a" * 15 + "…"
    assert len(plot.loadings(OnlinePCA(2).fit(rng.normal(size=(50, 100)))).get_xticks()) <= 40
    with pytest.raises(ValueError, match="a name for each of the 8 columns, got 3"):
        plot.loadings(pca, names="abc")
    with pytest.raises(ValueError, match="through a kernel there are no loadings"):
        plot.loadings(OnlineKernelPCA(2, kernel="rbf").fit(frame))


def test_a_biplot_shows_rows_and_the_largest_loadings(rng):
    X = low_rank(rng)
    pca = OnlinePCA(3).fit(X)
    ax = plot.biplot(pca, X, names=list("abcdefgh"), directions=(0, 2), arrows=4)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), pca.transform(X)[:, [0, 2]])
    longest = np.argsort(-(pca.components_[[0, 2]] ** 2).sum(axis=0))[:4]
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["abcdefgh"[i] for i in longest]
    assert f"direction 3 ({pca.explained_variance_ratio_[2]:.1%} of the energy)" == ax.get_ylabel()
    with pytest.raises(ValueError, match=r"directions must be less than 3, got \(0, 3\)"):
        plot.biplot(pca, X, directions=(0, 3))


def test_the_spectrum_over_time_adds_up_and_shows_a_change():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 2, 6))
    X = np.vstack([rng.normal(size=(300, 2)) @ first, rng.normal(size=(300, 2)) @ second])
    run = eigenhedge.run(X, 2)
    ax = plot.spectrum(run, window=20)
    strips = [strip.get_paths()[0] for strip in ax.collections]
    assert len(strips) == 3
    assert strips[-1].vertices[:, 1].max() == pytest.approx(1.0)
    heights = strips[-1].vertices
    bottom = {x: heights[heights[:, 0] == x, 1].min() for x in (290.0, 310.0, 400.0)}
    assert bottom[310.0] < bottom[400.0] - 0.1 and bottom[290.0] > 0.99
    with pytest.raises(ValueError, match="window must be from 1 to the 600 rows, got 601"):
        plot.spectrum(run, window=601)


def test_a_run_is_drawn_on_one_page(rng):
    X = low_rank(rng)
    assert len(eigenhedge.run(X, 2).plot().axes) == 5
    assert len(eigenhedge.run(X[:60], 2, kernel="rbf").plot().axes) == 4
    assert len(eigenhedge.run(X[:60], 2, kernel="rbf", learner="leader").plot().axes) == 3


def test_a_monitor_is_drawn_with_its_limits_alarms_incidents_and_columns(rng):
    X = rng.normal(size=(700, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(700, 5))
    X[500:530, 3] += 2.0
    alarms = eigenhedge.Monitor().update(X, contributions=True)
    hours = np.datetime64("2024-01-01") + np.arange(700) * np.timedelta64(1, "h")
    score, q, t2, columns, _ = plot.monitor(alarms, times=hours).axes
    reference = np.where(np.arange(700) < 400, np.nan, alarms.reference_limit)
    stretches = np.count_nonzero(np.diff(alarms.in_incident.astype(int), prepend=0) == 1)
    assert stretches > 0 and len(alarms.changes) > 0
    for ax, values, limits in [(score, alarms.score, reference), (q, alarms.q, alarms.q_limit), (t2, alarms.t2, alarms.t2_limit)]:
        assert ax.get_yscale() == "log"
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), values)
        np.testing.assert_array_equal(ax.lines[1].get_ydata(), limits)
        assert len(ax.lines) == 2 + len(alarms.changes) + (ax is score) and len(ax.patches) == stretches
    np.testing.assert_array_equal(score.lines[-1].get_xdata(), hours[alarms.alarm])
    np.testing.assert_array_equal(score.lines[-1].get_ydata(), alarms.score[alarms.alarm])
    assert {text.get_text() for text in score.get_legend().get_texts()} == {"value", "limit", "alarm", "incident", "change"}
    cells = columns.collections[0].get_array().reshape(5, 700)
    assert cells[:, 515].argmax() == alarms.contributions[515].argmax()
    assert cells[3, 500:530].mean() > cells[3, 420:500].mean() + 0.3
    assert len(eigenhedge.Monitor().update(X).plot().axes) == 3
    numbers = f"incidents {len(alarms.incidents)}, alarms {alarms.alarm.sum()}, events {len(alarms.events)}"
    assert repr(alarms) == f"<Alarms: rows 700, {numbers}, changes {len(alarms.changes)}>"
    with pytest.raises(ValueError, match="a time for each of the 700 rows, got 699"):
        plot.monitor(alarms, times=hours[1:])


def test_the_warm_up_of_a_monitor_is_drawn_without_limits(rng):
    alarms = eigenhedge.Monitor().update(rng.normal(size=(50, 3)))
    ax = plot.monitor(alarms).axes[0]
    assert np.isnan(ax.lines[1].get_ydata()).all() and len(ax.patches) == 0


def test_results_of_several_keys_are_drawn_by_key(rng):
    X = low_rank(rng, rows=600)
    X[400:420] += 5.0
    alarms = eigenhedge.Fleet(eigenhedge.Monitor(warm_up=100)).update(["left", "right"] * 300, X)
    with pytest.raises(ValueError, match="the rows have 2 keys: set key to the one to plot, for example key='left'"):
        alarms.plot()
    ax = alarms.plot(key="right").axes[0]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(1, 600, 2))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), alarms.score[1::2])
    changes = [change["start"] for change in alarms.changes if change["key"] == "right"]
    assert len(changes) > 0
    assert changes == [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert len(eigenhedge.Fleet(eigenhedge.Monitor(warm_up=100)).update(["one"] * 600, X).plot().axes) == 3


def test_skipped_rows_add_nothing_to_the_losses(rng):
    X = low_rank(rng)
    X[::7, 2] = np.nan
    run = eigenhedge.run(X, 2, missing="skip")
    drawn, expected, *_ = plot.losses(run).lines
    assert drawn.get_ydata()[-1] == pytest.approx(run.summary["loss"])
    assert expected.get_ydata()[-1] == pytest.approx(run.summary["expected_loss"])
    strips = [strip.get_paths()[0].vertices for strip in plot.spectrum(run).collections]
    assert all(np.isfinite(vertices).all() for vertices in strips)


@pytest.mark.parametrize("draw", [plot.losses, plot.spectrum, plot.overview])
def test_plots_of_losses_need_a_run(rng, draw):
    pca = OnlinePCA(2).fit(low_rank(rng))
    for model in (pca, pca.model_):
        with pytest.raises(
            TypeError, match=rf"plot.{draw.__name__} needs the result of eigenhedge.run.* got a {type(model).__name__}"
        ):
            draw(model)


def test_what_cannot_be_drawn_is_named(rng):
    X = low_rank(rng)
    with pytest.raises(TypeError, match="plot.monitor needs the Alarms that update returns, got a Monitor"):
        plot.monitor(eigenhedge.Monitor().fit(X))
    pipeline = make_pipeline(StandardScaler(), OnlinePCA(2)).fit(X)
    for draw in (plot.scree, plot.loadings, plot.portfolio):
        with pytest.raises(TypeError, match=r"got a Pipeline; of a Pipeline, pass its last step, pipeline\[-1\]"):
            draw(pipeline)


def test_columns_are_drawn_from_top_to_bottom(rng):
    alarms = eigenhedge.Monitor(warm_up=100).update(low_rank(rng), contributions=True)
    low, high = plot.monitor(alarms).axes[3].get_ylim()
    assert low > high
