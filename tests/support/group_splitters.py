"""Splitters that tests look into."""

from sklearn.model_selection import GroupKFold


class WatchedGroups(GroupKFold):
    """Records which groups are in both parts of a fold."""

    def __init__(self, n_splits, shared):
        super().__init__(n_splits)
        self.shared = shared

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            self.shared.append(set(groups[train]) & set(groups[test]))
            yield train, test

    def __deepcopy__(self, memo):
        return WatchedGroups(self.n_splits, self.shared)
