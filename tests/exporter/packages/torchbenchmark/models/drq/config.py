class DRQConfig:
    feature_dim, hidden_dim, hidden_depth, log_std_bounds = 2, 4, 1, [-10, 2]
