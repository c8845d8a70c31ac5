"""Streaming kernel features into an online classifier.

Rows come in blocks and are seen once. Online kernel PCA with a budget of atoms turns each into a few features, and a linear
classifier learns from those. The classes are rings, which no line in the plane separates.
"""

import numpy as np
from sklearn.datasets import make_circles
from sklearn.linear_model import SGDClassifier

from eigenhedge import OnlineKernelPCA

X, y = make_circles(n_samples=1500, factor=0.4, noise=0.08, random_state=0)
features = OnlineKernelPCA(4, kernel="rbf", gamma=2.0, budget=60, random_state=0)
plain, through_features = SGDClassifier(random_state=0), SGDClassifier(random_state=0)
right = np.zeros(2)
for block in np.split(np.arange(1500), 30):
    rows, labels = X[block], y[block]
    if block[0] >= 500:  # judged before it is learned from
        right += [plain.score(rows, labels), through_features.score(features.transform(rows), labels)]
    features.partial_fit(rows)
    plain.partial_fit(rows, labels, classes=[0, 1])
    through_features.partial_fit(features.transform(rows), labels, classes=[0, 1])

right /= 20
print(f"share of rows that are classified right: {right[0]:.3f} from the plane, {right[1]:.3f} from kernel features")
print(f"atoms kept: at most 60 of {features.n_samples_seen_} rows")
assert right[1] > 0.95 > 0.8 > right[0]
