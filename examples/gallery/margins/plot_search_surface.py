"""
The surface of a margin search
==============================

``IMMAXClassifierCV`` scores every power of the margins with every λ on the same folds. The cross
marks what it chose, circles what is within one standard error of the best, and the dashed line the
theory's power.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from immax import IMMAXClassifierCV
from immax.plots import plot_search

X, y = load_breast_cancer(return_X_y=True)
search = IMMAXClassifierCV(scoring="neg_log_loss", random_state=0).fit(scale(X), y)

# %%

print("parameters", search.best_parameters_, "lambda", search.best_lam_)
print("log-loss of held-out samples", -search.best_score_)
print("candidates", len(search.cv_results_["params"]))

# %%

plot_search(search)
plt.show()
