def resolve_data_config(args, model, use_test_size):
    return model.default_cfg
