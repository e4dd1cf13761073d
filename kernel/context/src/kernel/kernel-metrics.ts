/** What the kernel counts of itself, with a help text for whoever reads it on a dashboard. */
import type { Metric } from '@svc/api';
import type { KernelAudit } from '@svc/platform/audit/audit-notes';
import type { PlatformParts } from '../parts.js';

type Parts = Pick<PlatformParts, 'http' | 'storage' | 'streams'> & {
  readonly audit: Pick<KernelAudit, 'failures'>;
  readonly events: { readonly dropped: number };
};

const gauge = (name: string, help: string, value: number): Metric => ({ name, help, type: 'gauge', value });
const counter = (name: string, help: string, value: number, labels?: Readonly<Record<string, string>>): Metric => ({ name, help, type: 'counter', value, ...(labels ? { labels } : {}) });

export const kernelMetrics = (parts: Parts): Metric[] => [
  ...httpMetrics(parts),
  ...streamMetrics(parts),
  ...storageMetrics(parts),
  counter('svc_audit_failures_total', 'Audit entries that could not be stored since the start', parts.audit.failures()),
  counter('svc_events_dropped_total', 'Events that listeners which fell behind have lost since the start', parts.events.dropped),
];

const httpMetrics = ({ http }: Parts): Metric[] => {
  const stats = http.stats();
  return [
    counter('svc_http_requests_total', 'HTTP requests since the start, without upgrades to WebSocket', stats.requests),
    ...Object.entries(stats.answers).map(([kind, value]) => counter('svc_http_responses_total', 'HTTP answers by the kind of their status', value, { status: kind })),
    gauge('svc_http_in_flight', 'HTTP requests that are not answered to the end yet, streams among them', stats.inFlight),
    { name: 'svc_http_request_duration_seconds', help: 'How long answers took from the request to their last byte; a stream ends when its run does', type: 'histogram', ...stats.durations },
    gauge('svc_http_connections_open', 'TCP connections that clients hold now', stats.connections),
    counter('svc_http_connections_refused_total', 'TCP connections refused because there were too many', stats.refusedConnections),
    gauge('svc_sockets_open', 'WebSocket connections that are open now', stats.openSockets),
    gauge('svc_streams_open', 'Server-sent event streams that are open now', stats.openStreams),
  ];
};

const streamMetrics = ({ streams }: Parts): Metric[] => {
  const stats = streams.stats();
  return [
    gauge('svc_stream_topics', 'Runs and other topics whose newest frames are in memory', stats.topics),
    gauge('svc_stream_followers', 'Clients and areas that follow a topic now', stats.followers),
  ];
};

const storageMetrics = ({ storage }: Parts): Metric[] => {
  const stats = storage.stats();
  return [
    gauge('svc_storage_commits', 'Commits since the start; several may share one write to the disk', stats.commits),
    gauge('svc_storage_batches', 'Writes to the disk since the start, each of one or more commits', stats.batches),
    gauge('svc_storage_rows', 'Rows written since the start', stats.rows),
    gauge('svc_storage_conflicts', 'Commits refused because of concurrent changes', stats.conflicts),
    gauge('svc_storage_last_fsync_ms', 'Milliseconds that the newest write took, most of it the disk', stats.lastFsyncMs),
    gauge('svc_storage_queue_depth', 'Commits that wait for the writer now', stats.queueDepth),
  ];
};
