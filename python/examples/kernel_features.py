# %% [markdown]
# # Kernel features for an online classifier
#
# The two classes are rings in the plane, which no line separates. Rows arrive in blocks, and each row is used once. Online
# kernel PCA with a budget of 60 atoms (stored rows) computes four features per row. A linear classifier learns from the features.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.linear_model import SGDClassifier

from eigenhedge import OnlineKernelPCA

X, y = make_circles(n_samples=1500, factor=0.4, noise=0.08, random_state=0)
kernel_pca = OnlineKernelPCA(4, kernel="rbf", gamma="scale", budget=60, random_state=0).fit(X[:50])
plain, through_features = SGDClassifier(random_state=0), SGDClassifier(random_state=0)

# %% [markdown]
# `step_each` returns the features of each row, computed before the model learns from the row. These features are aligned from
# row to row, so a classifier can keep learning from them. In contrast, the basis of `transform` may rotate after each block. Each
# block after the first is classified before the classifiers learn from it, so the accuracy below is for unseen rows.

# %%
right, blocks = [], []
for rows, labels in zip(np.split(X[50:], 29), np.split(y[50:], 29), strict=True):
    _, _, features = kernel_pca.model_.step_each(rows)
    if hasattr(plain, "coef_"):
        right.append([plain.score(rows, labels), through_features.score(features, labels)])
    plain.partial_fit(rows, labels, classes=[0, 1])
    through_features.partial_fit(features, labels, classes=[0, 1])
    blocks.append(features)

late = np.mean(right[10:], axis=0)
print(f"right in the last 18 blocks: {late[0]:.2f} from the plane, {late[1]:.2f} from kernel features")
print(f"{kernel_pca.n_samples_seen_} rows seen, gamma {kernel_pca.gamma_:.2f}, atoms at most 60")
assert late[1] > 0.95 > 0.8 > late[0]

# %% [markdown]
# The first plot shows the last 150 rows in the plane. The second plot shows the first and the third of their four kernel
# features. Feature 3 separates most rows of the two rings. The third plot shows the accuracy per block.

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
last = np.vstack(blocks[-3:])
for label, colour in [(0, "tab:blue"), (1, "tab:orange")]:
    is_label = y[-150:] == label
    axes[0].scatter(*X[-150:][is_label].T, s=5, color=colour)
    axes[1].scatter(*last[is_label][:, [0, 2]].T, s=5, color=colour)
axes[0].set(title="rows", aspect="equal")
axes[1].set(title="kernel features 1 and 3", aspect="equal")
axes[2].plot(np.arange(3, 31), right, label=["from the plane", "from kernel features"])
axes[2].set(title="share classified right", xlabel="block", ylim=(0, 1.02))
axes[2].legend(frameon=False)

# %% [markdown]
# The loss of a row is a novelty score: three rows far from both rings have larger losses than the first 200 rows.

# %%
far = np.array([[3.0, 0.0], [0.0, -3.0], [2.0, 2.0]])
lost, lost_far = -kernel_pca.score_samples(X[:200]), -kernel_pca.score_samples(far)
print(f"lost of the rows: {lost.mean():.2f} on average, at most {lost.max():.2f}; of rows far away: {lost_far.min():.2f} or more")
assert lost_far.min() > lost.max()
