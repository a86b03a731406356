"""Runs Torchstone on every system of a ReFrame configuration: reframe -c torchstone_check.py -r

Choose cases with -S TorchstoneCheck.cases='*resnet18*'. docs/slurm.md explains more.
"""
import json
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class TorchstoneCheck(rfm.RunOnlyRegressionTest):
    check = parameter(['accuracy', 'performance'])
    cases = variable(str, value='torchbench/*')
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'torchstone'
    exclusive_access = True

    @run_before('run')
    def select_cases(self):
        self.executable_opts = [f'--torchstone_checks={self.check}', f"'--gtest_filter={self.cases}'", '--torchstone_out=results']

    @sanity_function
    def is_as_expected(self):
        return sn.assert_eq(self.job.exitcode, 0, msg='torchstone ended with exit code {0}')

    @run_before('performance')
    def read_speedup(self):
        summary = json.loads((pathlib.Path(self.stagedir) / 'results' / 'results.json').read_text())['summary']
        if summary['geomean_n'] > 0:
            self.perf_variables = {'speedup': sn.make_performance_function(sn.defer(summary['geomean_speedup']), 'x')}
