"""Results folders of the real program: a plain run, a killed run, and two runs with one planted slow-down."""
import json
import signal
import subprocess
import time

SLOWED = "two_outputs"


class RealRuns:
    """`binary` is torchstone. `plugin` and `suite` are those of the planted faults."""

    def __init__(self, binary, plugin, suite, folder):
        self.binary, self.folder = binary, folder
        self.faults = [f"--torchstone_plugin={plugin}", f"--torchstone_suites={suite}"]

    def _command(self, name, *options):
        return [self.binary, f"--torchstone_out={self.folder / name}", *options]

    def _run(self, name, *options):
        """Returns the results folder. Ignores the exit code, because these runs contain failing cases on purpose."""
        done = subprocess.run(self._command(name, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not (self.folder / name / "results.json").exists():
            raise RuntimeError(f"{name}: {done.stdout}")
        return self.folder / name

    def plain(self):
        return self._run("plain", "--gtest_filter=*lennard_jones*", "--torchstone_backends=eager,torchscript",
                         "--torchstone_measure_budget=0.3")

    def killed(self):
        """Kills the run in the second of its three cases, which hangs."""
        process = subprocess.Popen(
            self._command("killed", *self.faults, "--gtest_filter=*healthy_*_torchscript_*:*hangs_*_torchscript_*:*branches_*_torchscript_*"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not list(self.folder.glob("killed/cases/*hangs_*")):
            if process.poll() is not None:
                raise RuntimeError("the run to be killed has ended")
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return self.folder / "killed"

    def _timed(self, name, backend, *models):
        return self._run(name, *self.faults, f"--torchstone_backends={backend}", "--torchstone_checks=performance",
                         "--torchstone_required_speedup=0.0001", "--torchstone_repeat=100",
                         "--gtest_filter=" + ":".join(f"*/{model}_*" for model in models))

    def slowed(self):
        """Returns an old run, and a new one in which one model's compiled side takes ten times as long."""
        models = ("healthy", SLOWED, "not_loadable")
        old = self._timed("old", "fault_slower", *models)
        new = self._timed("new", "fault_slower", *models)
        slow = json.loads((self._timed("slow", "fault_slower:factor=10", SLOWED) / "results.json").read_text())["results"][0]
        results = json.loads((new / "results.json").read_text())
        for i, result in enumerate(results["results"]):
            if result["model"] == SLOWED:
                results["results"][i] = {**slow, "name": result["name"], "backend": result["backend"]}
        joined = self.folder / "joined"  # has no case records, which would replace these results as newer ones
        joined.mkdir()
        (joined / "results.json").write_text(json.dumps(results))
        return old, joined
