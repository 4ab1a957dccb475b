"""scikit-learn: k-means and gradient boosting, whose Cython code is OpenMP on the libgomp inside the wheel."""
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier

points, _ = make_blobs(n_samples=60000, n_features=16, centers=12, random_state=1)
kmeans = KMeans(n_clusters=12, n_init=3, random_state=1).fit(points)
print("inertia", kmeans.inertia_)
x, y = make_classification(n_samples=20000, n_features=30, n_informative=12, random_state=1)
model = HistGradientBoostingClassifier(max_iter=60, random_state=1).fit(x[:15000], y[:15000])
print("accuracy", model.score(x[15000:], y[15000:]))
print("logloss", -np.log(model.predict_proba(x[15000:])[np.arange(5000), y[15000:]]).mean())
