"""Base classes of scikit-learn, and replacements that monitors use if scikit-learn is not installed."""

import numpy as np

from ._rows import as_rows, check_cells, check_numbers, column_names, numeric

try:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        MultiOutputMixin,
        OneToOneFeatureMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import validate_data
except ModuleNotFoundError:
    import inspect

    class NotFittedError(ValueError, AttributeError):
        """Error raised by methods that require a fitted estimator."""

    class BaseEstimator:
        """Base class with access to the constructor arguments by name."""

        def get_params(self, deep=True):
            """Return the constructor arguments by name."""
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params):
            """Change constructor arguments. The changes take effect at the next ``fit``."""
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self)).parameters
            changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name].default)
            return f"{type(self).__name__}({', '.join(changed)})"

    class OutlierMixin:
        """Base class of outlier detectors with ``fit_predict``."""

        def fit_predict(self, X, y=None):
            """Fit to the rows of ``X`` and return their labels. ``y`` is ignored."""
            return self.fit(X).predict(X)

    def validate_data(estimator, X, *, reset, ensure_all_finite, **rules):
        """Check the number and the names of the columns, and return the rows."""
        rows, names = as_rows(X), column_names(X)
        if ensure_all_finite is True and np.isnan(rows).any():
            raise ValueError("Input X contains NaN.")
        if len(rows) == 0:
            raise ValueError("there must be at least one row, got 0")
        if reset:
            vars(estimator).pop("feature_names_in_", None)
            estimator.n_features_in_ = rows.shape[1]
            if names is not None:
                estimator.feature_names_in_ = names
        if rows.shape[1] != estimator.n_features_in_:
            raise ValueError(f"the rows must have {estimator.n_features_in_} columns, got {rows.shape[1]}")
        known = getattr(estimator, "feature_names_in_", names)
        if names is not None and list(known) != list(names):
            raise ValueError(f"the columns must be {list(known)}, in this order, got {list(names)}")
        return rows


def validated(estimator, X, advice, *targets, **rules):
    """Return the result of ``validate_data``.

    If ``advice`` is given, raise a ``ValueError`` with this advice for a missing cell.
    """
    check_numbers(X)
    X = numeric(X)
    try:
        return validate_data(estimator, X, *targets, ensure_all_finite=True if advice else "allow-nan", **rules)
    except ValueError as error:
        if advice and "Input X contains NaN" in str(error):
            check_cells(np.isnan(as_rows(X)), column_names(X), "NaN", advice)
        if "contains infinity" in str(error):
            check_cells(np.isinf(as_rows(X)), column_names(X), "infinity", "replace it, or leave out the row")
        raise


# fmt: off
__all__ = [
    "BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "MultiOutputMixin", "NotFittedError", "OneToOneFeatureMixin",
    "OutlierMixin", "RegressorMixin", "TransformerMixin", "validate_data", "validated",
]
# fmt: on
