"""Mistakes that mypy must report on their lines. It must not report anything else."""

import numpy as np

import eigenhedge
from eigenhedge import KernelPCA, Model, Monitor, OnlinePCA, bounds

X = np.zeros((10, 3))
eigenhedge.run(X, "two")  # mistake: incompatible type "str"; expected "int"
OnlinePCA(2).fit("rows.csv")  # mistake: incompatible type "str"
eigenhedge.run(X, 2, learner="trackin")  # mistake: incompatible type "Literal['trackin']"
eigenhedge.run(X, 2, etta=0.5)  # mistake: Unexpected keyword argument "etta"
eigenhedge.run(X, 2).summary["expected_los"]  # mistake: TypedDict "Summary" has no key "expected_los"
Model(3, 2, eta="fast").step(X[0])  # mistake: incompatible type "Literal['fast']"
Model(3, 2).lern(X)  # mistake: "Model" has no attribute "lern"
OnlinePCA(2, kernel="rbf").fit(X)  # mistake: Unexpected keyword argument "kernel"
OnlinePCA(2).fit(X).transfrom(X)  # mistake: "OnlinePCA" has no attribute "transfrom"
KernelPCA(2, kernel="rfb")  # mistake: incompatible type "Literal['rfb']"
Monitor(missing="drop").update(X)  # mistake: incompatible type "Literal['drop']"
eigenhedge.plot.losses(Model(3, 2))  # mistake: incompatible type "Model"; expected "RunResult"
bounds.hedge(1.0, 10.0)  # mistake: Missing positional argument "experts"
eigenhedge.rum(X, 2)  # mistake: Module has no attribute "rum"
