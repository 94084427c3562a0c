"""Tool-info module of Palisade for BenchExec 3 (https://github.com/sosy-lab/benchexec).

The options of the benchmark definition begin with the subcommand: `check`, `prove`, `cover`.
"""

import json

import benchexec.result as result
import benchexec.tools.template

# Exit status (README.md, "For scripts").
VERDICTS = {0: result.RESULT_TRUE_PROP, 1: result.RESULT_FALSE_PROP, 3: result.RESULT_UNKNOWN}
FAULTS = {2: "bad input", 4: "evidence rejected"}


class Tool(benchexec.tools.template.BaseTool2):
    """Palisade: robustness against x86-TSO, properties, coverability of Petri nets."""

    def name(self):
        return "Palisade"

    def executable(self, tool_locator):
        return tool_locator.find_executable("palisade")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="palisade")

    def cmdline(self, executable, options, task, rlimits):
        limits = []
        if rlimits.cputime and "--timeout" not in options:
            # A little less than BenchExec gives, so that the answer is still told.
            limits = ["--timeout", f"{max(rlimits.cputime - 1, 1)}s"]
        return [executable, *options, *limits, "--json", "--quiet", task.single_input_file]

    def determine_result(self, run):
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        if run.exit_code.signal is not None:
            return f"KILLED BY SIGNAL {run.exit_code.signal}"
        status = run.exit_code.value
        if status in FAULTS:
            return f"{result.RESULT_ERROR} ({FAULTS[status]})"
        return VERDICTS.get(status, result.RESULT_ERROR)

    def get_value_from_output(self, output, identifier):
        for line in output:
            try:
                document = json.loads(line)
            except ValueError:
                continue
            if isinstance(document, dict):
                value = document.get("statistics", {}).get(identifier, document.get(identifier))
                return None if value is None else str(value)
        return None
