"""OpenBLAS (libopenblas0-openmp) under numpy: products, a solve and a decomposition."""
import numpy as np

rng = np.random.default_rng(1)
a, b = rng.normal(size=(900, 900)), rng.normal(size=(900, 900))
print("product", float(np.abs(a @ b).sum()))
print("solve", float(np.abs(np.linalg.solve(a + 900 * np.eye(900), b)).sum()))
print("norm", float(np.linalg.svd(a[:300, :300], compute_uv=False)[0]))
for _ in range(10):
    a = a @ b / 900
print("power", 1e9 * float(np.abs(a).sum()))
