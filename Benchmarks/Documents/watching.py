"""Runs programs and watches what they take."""

import os
import statistics
import subprocess
import sys
import time

MB = 1 << 20


def run(command, environment=None):
    """Runs a command to its end. Returns seconds, CPU seconds, the peak of anonymous memory (sampled every 5 ms), the
    resident peak as last sampled, and the bytes written to anything."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})
    anonymous = resident = 0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        sample = _status(process.pid)
        anonymous = max(anonymous, sample.get("RssAnon", 0))
        resident = max(resident, sample.get("VmHWM", 0))
        time.sleep(0.005)
    seconds = time.monotonic() - start
    # The process is gone but not collected, so the kernel still has its numbers.
    with open(f"/proc/{process.pid}/io") as file:
        written = dict(line.split(": ") for line in file)["wchar"]
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)[:200]}: ended with {process.returncode}: {errors.decode()}")
    return {
        "seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "anonymous": anonymous, "resident": resident,
        "written": int(written), "output": output.decode()}


def _status(process):
    try:
        with open(f"/proc/{process}/status") as file:
            lines = (line.split() for line in file)
            return {line[0][:-1]: int(line[1]) * 1024 for line in lines if line[0] in ("RssAnon:", "VmHWM:")}
    except (FileNotFoundError, ProcessLookupError):
        return {}


def medians(runs, times):
    """Runs all in turn, so that what else the machine does hits all alike; returns the median of each number."""
    results = {name: [] for name in runs}
    for _ in range(times):
        for name, body in runs.items():
            results[name].append(body())
            print(f"  {name}: {results[name][-1]['seconds']:.2f} s", flush=True)
    return {
        name: {key: _median(one[key] for one in all) for key in all[0] if key != "output"}
        for name, all in results.items()}


def _median(numbers):
    """None where it was not measured: a process that ends at once cannot be watched."""
    known = [number for number in numbers if number is not None]
    return statistics.median(known) if known else None


def shares(command, data):
    """Where a command spends its time, as (library or program, symbol) and percent, by the sampling profiler `perf`."""
    subprocess.run(
        ["perf", "record", "-e", "cpu-clock", "-F", "2000", "-o", data] + command, check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    report = subprocess.run(
        ["perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol", "--field-separator", "\t"], check=True,
        capture_output=True, text=True).stdout
    result = []
    for line in report.splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if line.startswith("#") or len(fields) < 3:
            continue
        result.append((fields[1], fields[2].split("] ")[-1], float(fields[0].rstrip("%"))))
    return result
