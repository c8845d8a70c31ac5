"""Writes batch.json: what scikit-learn computes for the batch methods on a small data set.

    python -m venv venv && venv/bin/pip install numpy==2.4.6 scikit-learn==1.9.1
    venv/bin/python crates/eigenhedge/tests/sklearn/make_fixtures.py

Made with Python 3.11.7, numpy 2.4.6, scipy 1.17.1, scikit-learn 1.9.1.
"""

import json
import pathlib
import platform

import numpy as np
import scipy
import sklearn
from sklearn.decomposition import PCA, KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge

KERNELS = {
    "linear": {"kernel": "linear"},
    "polynomial": {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
}
COMPONENTS = 3
RHO = 0.1

random = np.random.default_rng(20240501)
x = random.normal(size=(40, 5)) * [1.5, 1.2, 0.9, 0.6, 0.3] + 0.4
query = random.normal(size=(10, 5)) * [1.5, 1.2, 0.9, 0.6, 0.3] + 0.4
y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * random.normal(size=40)


def kernel_methods(options):
    pca = KernelPCA(COMPONENTS, eigen_solver="dense", fit_inverse_transform=True, alpha=RHO, **options)
    scores = pca.fit_transform(x)
    query_scores = pca.transform(query)
    ridge = KernelRidge(alpha=RHO, **options).fit(x, y)
    return {
        "options": options,
        "eigenvalues": pca.eigenvalues_.tolist(),
        "scores": scores.tolist(),
        "query_scores": query_scores.tolist(),
        "query_inverse": pca.inverse_transform(query_scores).tolist(),
        "coefficients": ridge.dual_coef_.tolist(),
        "predictions": ridge.predict(query).tolist(),
    }


def plain_pca():
    pca = PCA(COMPONENTS, svd_solver="full").fit(x)
    return {
        "mean": pca.mean_.tolist(),
        "explained_variance": pca.explained_variance_.tolist(),
        "explained_ratio": pca.explained_variance_ratio_.tolist(),
        "query_scores": pca.transform(query).tolist(),
        "query_inverse": pca.inverse_transform(pca.transform(query)).tolist(),
    }


def gaussian_process(gamma):
    process = GaussianProcessRegressor(RBF(1 / np.sqrt(2 * gamma)), alpha=RHO, optimizer=None).fit(x, y)
    mean, deviation = process.predict(query, return_std=True)
    return {
        "gamma": gamma,
        "mean": mean.tolist(),
        "deviation": deviation.tolist(),
        "log_likelihood": process.log_marginal_likelihood_value_,
    }


fixture = {
    "made_with": {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    },
    "components": COMPONENTS,
    "rho": RHO,
    "x": x.tolist(),
    "y": y.tolist(),
    "query": query.tolist(),
    "kernels": {name: kernel_methods(options) for name, options in KERNELS.items()},
    "pca": plain_pca(),
    "gaussian_process": gaussian_process(0.4),
}
path = pathlib.Path(__file__).with_name("batch.json")
path.write_text(json.dumps(fixture, indent=None) + "\n")
print(path.name, path.stat().st_size, "bytes")
