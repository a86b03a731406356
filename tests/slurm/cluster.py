"""A Slurm cluster with two nodes on this machine: slurmctld and two slurmd, without munge, in their own folder."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NODES = ("node0", "node1")
START_LIMIT_S = 60

CONFIGURATION = """
ClusterName=torchstone
SlurmctldHost={host}
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmctldTimeout=10
SlurmdTimeout=5
KillWait=1
MessageTimeout=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Returns why there is no cluster; empty if there can be one."""
    absent = [name for name in ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue") if not shutil.which(name)]
    if absent:
        return f"not in PATH: {', '.join(absent)} (Debian: slurm-wlm)"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """A context manager that starts and ends the cluster. Slurm's commands need the variables in `environment`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "state").mkdir()
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        ctld_port, *ports = free_ports(1 + len(NODES))
        host = socket.gethostname()
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 State=UNKNOWN"
                          for node, port in zip(NODES, ports))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, host=f"{host}(127.0.0.1)", ctld_port=ctld_port, nodes=nodes, names=",".join(NODES)))
        self.daemons = {}

    def start(self, name, command):
        log = open(self.folder / f"{name}.out", "a")  # noqa: SIM115 - the daemon keeps the file open
        self.daemons[name] = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_node(self, node):
        self.start(node, ["slurmd", "-D", "-N", node])

    def __enter__(self):
        self.start("slurmctld", ["slurmctld", "-D", "-c"])
        for node in NODES:
            self.start_node(node)
        end = time.monotonic() + START_LIMIT_S
        while self.idle_nodes() < len(NODES):
            if time.monotonic() > end:
                self.__exit__()
                raise RuntimeError(f"the cluster did not start:\n{(self.folder / 'slurmctld.log').read_text()[-2000:]}")
            time.sleep(0.5)
        return self

    def __exit__(self, *_):
        for node in NODES:
            self.kill_processes_of(node)
        for daemon in self.daemons.values():
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def output_of(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def idle_nodes(self):
        return self.output_of("sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")

    def jobs(self):
        return self.output_of("squeue", "--noheader", "--array", "--format=%j %T %N").splitlines()

    def processes_of(self, node):
        """Returns the ids of this cluster's job processes on a node, and of the daemons that hold them."""
        found = set()
        for process in pathlib.Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                is_step = "slurmstepd" in pathlib.Path(f"/proc/{parent}/comm").read_text()
            except (OSError, ValueError):
                continue
            if f"SLURMD_NODENAME={node}".encode() in variables and f"SLURM_CONF={self.folder}/slurm.conf".encode() in variables:
                found.add(int(process.name))
                if is_step:
                    found.add(parent)
        return found

    def kill_processes_of(self, node):
        for process in sorted(self.processes_of(node)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_node(self, node):
        """Kills a node without notice, as a power cut would."""
        self.daemons[node].kill()
        self.daemons[node].wait()
        self.kill_processes_of(node)
