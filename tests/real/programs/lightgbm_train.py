"""LightGBM: a boosted regression; its lib_lightgbm.so is OpenMP throughout."""
import lightgbm
import numpy as np

rng = np.random.default_rng(1)
x = rng.normal(size=(60000, 40))
y = x[:, 0] * x[:, 1] + np.sin(x[:, 2] * 3) + 0.1 * rng.normal(size=60000)
booster = lightgbm.train(
    {"objective": "regression", "verbosity": -1, "deterministic": True, "force_row_wise": True, "seed": 1},
    lightgbm.Dataset(x[:50000], y[:50000]), num_boost_round=60)
error = booster.predict(x[50000:]) - y[50000:]
print("mse", float((error ** 2).mean()))
