/**
 * Metrics of the process
 * ======================
 * Descriptions of what prom-client reads from Node.js and the machine. Which of them exist depends
 * on the platform; on Linux it is all of them.
 */
import type { MetricEntry } from "../../src/daemon/observability/metric-definitions.ts";

const gauge = (name: string, unit: string, help: string, label?: string): MetricEntry => ({
  name,
  type: "gauge",
  labels: label === undefined ? {} : { [label]: "names defined by Node.js" },
  unit,
  help,
});
const counter = (name: string, unit: string, help: string): MetricEntry => ({
  ...gauge(name, unit, help),
  type: "counter",
});

const lag = (name: string, words: string) =>
  gauge(`nodejs_eventloop_lag_${name}seconds`, "seconds", words);

export const processMetrics: readonly MetricEntry[] = [
  lag("", "How late the event loop of the main thread is now."),
  lag("min_", "Least delay of the event loop since the last read."),
  lag("max_", "Most delay of the event loop since the last read."),
  lag("mean_", "Mean delay of the event loop since the last read."),
  lag("stddev_", "Standard deviation of that delay."),
  lag("p50_", "Half of the delays were at most this."),
  lag("p90_", "90 of 100 delays were at most this."),
  lag("p99_", "99 of 100 delays were at most this."),
  counter("process_cpu_seconds_total", "seconds", "Processor time, all threads."),
  counter("process_cpu_user_seconds_total", "seconds", "Processor time in the program."),
  counter("process_cpu_system_seconds_total", "seconds", "Processor time in the kernel."),
  gauge("process_start_time_seconds", "seconds", "When the process began, since the epoch."),
  gauge("process_resident_memory_bytes", "bytes", "Memory in use, all threads."),
  gauge("process_virtual_memory_bytes", "bytes", "Addresses in use."),
  gauge("process_heap_bytes", "bytes", "Data segment of the process."),
  gauge("process_open_fds", "files", "Open files and sockets."),
  gauge("process_max_fds", "files", "Maximum number of open files."),
  gauge("nodejs_heap_size_total_bytes", "bytes", "JavaScript heap of the main thread."),
  gauge("nodejs_heap_size_used_bytes", "bytes", "Used JavaScript heap of the main thread."),
  gauge("nodejs_external_memory_bytes", "bytes", "Memory of objects outside the heap."),
  gauge("nodejs_heap_space_size_total_bytes", "bytes", "The heap by its spaces.", "space"),
  gauge("nodejs_heap_space_size_used_bytes", "bytes", "Used part of each heap space.", "space"),
  gauge(
    "nodejs_heap_space_size_available_bytes",
    "bytes",
    "Free part of each heap space.",
    "space",
  ),
  {
    ...gauge("nodejs_gc_duration_seconds", "seconds", "Runs of the garbage collector."),
    type: "histogram",
    labels: { kind: ["major", "minor", "incremental", "weakcb"] },
  },
  gauge("nodejs_active_resources", "resources", "What keeps the event loop alive.", "type"),
  gauge("nodejs_active_handles", "handles", "Open handles of libuv.", "type"),
  gauge("nodejs_active_requests", "requests", "Open requests of libuv.", "type"),
  {
    ...gauge("nodejs_version_info", "1", "Always 1; the version of Node.js is its labels."),
    labels: { version: "of Node.js", major: "of it", minor: "of it", patch: "of it" },
  },
];
