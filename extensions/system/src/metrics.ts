/** The Prometheus text of what the kernel and every area count. The client library is loaded at the first scrape. */
import { type Actor, type Histogram as CountedBuckets, type HookHandle, type KernelView, type Metric, type MetricsCollect, seesAll } from '@svc/api';

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export async function renderMetrics(kernel: KernelView, collect: HookHandle<typeof MetricsCollect>, uptimeSeconds: number, actor: Actor): Promise<MetricsText> {
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();

  /** Shows what was counted elsewhere; the library's own histogram takes single observations only. */
  class CountedHistogram extends Histogram {
    readonly #rows: readonly CountedBuckets[];

    constructor(head: { name: string; help: string }, rows: readonly CountedBuckets[]) {
      super({ ...head, registers: [registry] });
      this.#rows = rows;
    }

    /** What the registry asks for, under a name that the library's types leave out. */
    async getForPromString() {
      return { name: this.#rows[0]?.name, help: this.#rows[0]?.help, type: 'histogram', values: this.#rows.flatMap(linesOf) };
    }
  }

  const show = (rows: readonly Metric[]): void => {
    const [first] = rows;
    if (!first) return;
    const { name, help } = first;
    const counted = rows.flatMap((row) => (row.type === 'histogram' ? [] : [row]));
    const config = { name, help, labelNames: [...new Set(rows.flatMap((row) => Object.keys(row.labels ?? {})))], registers: [registry] };
    if (first.type === 'histogram') {
      new CountedHistogram(
        first,
        rows.flatMap((row) => (row.type === 'histogram' ? [row] : [])),
      );
    } else if (first.type === 'counter') {
      const counter = new Counter(config);
      for (const row of counted) counter.inc(row.labels ?? {}, row.value);
    } else {
      const gauge = new Gauge(config);
      for (const row of counted) gauge.set(row.labels ?? {}, row.value);
    }
  };

  const collected = (await collect.call(undefined)).flatMap((row) => row.value ?? []);
  const shown = collected.filter(({ personal }) => !personal || seesAll(actor));
  for (const rows of byName([...ownMetrics(kernel, uptimeSeconds), ...kernel.metrics(), ...shown])) show(rows);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

const ownMetrics = (kernel: KernelView, uptimeSeconds: number): Metric[] => {
  const extensions = kernel.extensions();
  return [
    { name: 'svc_info', help: 'Version of the daemon, as a label; always 1', type: 'gauge', value: 1, labels: { version: kernel.version } },
    { name: 'svc_uptime_seconds', help: 'Seconds since the daemon started', type: 'gauge', value: uptimeSeconds },
    {
      name: 'svc_panics_total',
      help: 'Failures inside extensions that would have ended a lesser daemon: strikes of all extensions',
      type: 'counter',
      value: extensions.reduce((sum, one) => sum + one.strikes, 0),
    },
    {
      name: 'svc_restarts_total',
      help: 'Times that an extension was loaded again since the start: reloads, restarts and switching on',
      type: 'counter',
      value: extensions.reduce((sum, one) => sum + Math.max(0, one.generation - 1), 0),
    },
    ...extensions.map(
      (one): Metric => ({ name: 'svc_extension_active', help: 'Whether an extension is active (1) or not (0)', type: 'gauge', value: one.state === 'active' ? 1 : 0, labels: { extension: one.id } }),
    ),
  ];
};

const linesOf = ({ name, buckets, sum, count, labels = {} }: CountedBuckets) => [
  ...[...buckets, { le: '+Inf', count }].map((bucket) => ({ metricName: `${name}_bucket`, value: bucket.count, labels: { ...labels, le: bucket.le } })),
  { metricName: `${name}_sum`, value: sum, labels },
  { metricName: `${name}_count`, value: count, labels },
];

/** What several areas tell under one name stands together, as the format wants it. */
function byName(metrics: readonly Metric[]): Iterable<Metric[]> {
  const groups = new Map<string, Metric[]>();
  for (const metric of metrics) groups.set(metric.name, [...(groups.get(metric.name) ?? []), metric]);
  return groups.values();
}
