"""Run scikit-learn's tests of IncrementalPCA and KernelPCA on our classes."""

import functools
import inspect
import itertools
import warnings

import pytest
from sklearn.decomposition.tests import test_incremental_pca as incremental
from sklearn.decomposition.tests import test_kernel_pca as kernel

from eigenhedge import KernelPCA, OnlineKernelPCA, OnlinePCA

#: Tests that do not apply to our classes, with the reason.
OTHERWISE = {
    "test_incremental_pca_sparse": "theirs refuses sparse rows in partial_fit, ours takes them",
    "test_incremental_pca_validation": "the words of their error; ours begins with any number of rows",
    "test_incremental_pca_feature_names_out": "the name of their class",
    "test_kernel_pca_invalid_parameters": "the argument fit_inverse_transform",
    "test_kernel_pca_sparse": "expects no inverse_transform without the argument fit_inverse_transform",
    "test_kernel_pca_precomputed_non_symmetric": "a matrix that is no kernel",
    "test_precomputed_kernel_not_psd": "solvers by name",
    "test_kernel_pca_raise_not_fitted_error": "expects no inverse_transform without the argument fit_inverse_transform",
}
#: More tests of KernelPCA that do not apply to OnlineKernelPCA, with the reason.
OTHERWISE_ONLINE = {
    "test_remove_zero_eig": "the argument remove_zero_eig",
    "test_kernel_conditioning": "the attribute eigenvalues_",
    "test_kernel_pca_inverse_transform_reconstruction": "the argument alpha of their inverse",
    "test_kernel_pca_feature_names_out": "the name of their class",
    "test_kernel_pca_inverse_correct_gamma": "the default of gamma, which is chosen from the first rows",
}


def ours(cls):
    """Return a function that creates `cls`, with the kernel of scikit-learn by default."""
    defaults, known = {} if cls is OnlinePCA else {"kernel": "linear"}, inspect.signature(cls).parameters
    return lambda *args, **options: cls(*args, **defaults | {k: v for k, v in options.items() if k in known})


def cases():
    classes = [
        (incremental, "IncrementalPCA", OnlinePCA),
        (kernel, "KernelPCA", OnlineKernelPCA),
        (kernel, "KernelPCA", KernelPCA),
    ]
    for module, name, cls in classes:
        for test, function in inspect.getmembers(module, inspect.isfunction):
            if not test.startswith("test_") or function.__module__ != module.__name__ or test in OTHERWISE:
                continue
            if cls is OnlineKernelPCA and test in OTHERWISE_ONLINE:
                continue
            marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
            choices = [[{m.args[0]: value} for value in m.args[1]] for m in marks]
            for chosen in itertools.product(*choices):
                arguments = {k: v for choice in chosen for k, v in choice.items()}
                label = "-".join(str(getattr(v, "__name__", v)) for v in arguments.values())
                yield pytest.param(module, name, cls, function, arguments, id=f"{cls.__name__}-{test}-{label}")


def test_the_list_of_exceptions_is_not_out_of_date():
    there = set(vars(incremental)) | set(vars(kernel))
    assert set(OTHERWISE) | set(OTHERWISE_ONLINE) <= there


@pytest.mark.parametrize("module, name, cls, function, arguments", list(cases()))
def test_theirs_with_ours(monkeypatch, module, name, cls, function, arguments):
    monkeypatch.setattr(module, name, ours(cls))
    if "global_random_seed" in inspect.signature(function).parameters:
        arguments = {**arguments, "global_random_seed": 42}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        functools.partial(function, **arguments)()
