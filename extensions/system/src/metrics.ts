/** The Prometheus text of what every area collects. The client library is loaded at the first scrape. */
import type { HookHandle, KernelView, MetricsCollect } from '@svc/api';

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

export async function renderMetrics(kernel: KernelView, collect: HookHandle<typeof MetricsCollect>, uptimeSeconds: number): Promise<MetricsText> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const add = (name: string, help: string, type: 'gauge' | 'counter', rows: ReadonlyArray<{ value: number; labels: Readonly<Record<string, string>> }>) => {
    const labelNames = [...new Set(rows.flatMap((row) => Object.keys(row.labels)))];
    if (type === 'counter') {
      const counter = new Counter({ name, help, labelNames, registers: [registry] });
      for (const row of rows) counter.inc(row.labels, row.value);
    } else {
      const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
      for (const row of rows) gauge.set(row.labels, row.value);
    }
  };
  add('svc_info', 'Version of the daemon', 'gauge', [{ value: 1, labels: { version: kernel.version } }]);
  add('svc_uptime_seconds', 'Seconds since the daemon started', 'gauge', [{ value: uptimeSeconds, labels: {} }]);
  add(
    'svc_extension_active',
    'Whether an extension is active',
    'gauge',
    kernel.extensions().map((one) => ({ value: one.state === 'active' ? 1 : 0, labels: { extension: one.id } })),
  );
  for (const [name, rows] of byName((await collect.call(undefined)).flatMap((row) => row.value ?? []))) {
    const [first] = rows;
    if (first)
      add(
        name,
        first.help,
        first.type,
        rows.map((row) => ({ value: row.value, labels: row.labels ?? {} })),
      );
  }
  for (const [name, value] of Object.entries(kernel.facts())) {
    if (name.startsWith('svc_') && typeof value === 'number') add(name, `Kernel fact ${name}`, name.endsWith('_total') ? 'counter' : 'gauge', [{ value, labels: {} }]);
  }
  return { contentType: registry.contentType, text: await registry.metrics() };
}

function byName<T extends { readonly name: string }>(rows: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) groups.set(row.name, [...(groups.get(row.name) ?? []), row]);
  return groups;
}
