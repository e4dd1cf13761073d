/** GET /api/status, as the commands read it. */
import type { DaemonClient } from './daemon-client.js';

export interface DaemonStatus {
  readonly status: string;
  readonly version?: string;
  readonly agent_count?: number;
  readonly data_dir?: string;
  readonly home_dir?: string;
  readonly api_listen?: string;
  readonly default_provider?: string;
  readonly default_model?: string;
  readonly default_model_why?: string;
  readonly default_model_stand_in?: boolean;
  readonly uptime_seconds?: number;
  readonly preset?: string;
  /** One sentence each. */
  readonly config_problems?: readonly string[];
  /** One sentence each: what does not work, such as a vault that does not open. */
  readonly health_problems?: readonly string[];
}

/** While the daemon boots it answers 503; that is `starting`, not a failure. */
export const readStatus = async (daemon: DaemonClient): Promise<DaemonStatus> => {
  const answer = await daemon.ask('GET', '/api/status', { timeoutMs: 10_000 });
  if (answer.status === 503) return { status: 'starting' };
  if (answer.status === 200 && typeof answer.body === 'object' && answer.body !== null) {
    const body = answer.body as DaemonStatus & { config_problems?: readonly unknown[] };
    return { ...body, config_problems: (body.config_problems ?? []).map(problemText) };
  }
  return daemon.call<DaemonStatus>('GET', '/api/status');
};

/** A problem may come as a sentence or as its parts. */
const problemText = (problem: unknown): string => {
  if (typeof problem === 'string') return problem;
  const { file, line, key, message } = (problem ?? {}) as { file?: string; line?: number | null; key?: string; message?: string };
  const place = file === undefined ? '' : `${file}${line ? `:${line}` : ''} `;
  return `${place}${key ? `${key}: ` : ''}${message ?? JSON.stringify(problem)}`;
};
