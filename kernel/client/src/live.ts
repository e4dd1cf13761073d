export interface LiveChange {
  readonly what: 'agent' | 'session' | 'run' | 'extension' | 'config' | 'models' | 'provider' | 'auth' | 'files';
  readonly id?: string;
  readonly agent_id?: string;
  readonly session_id?: string;
  readonly state?: string;
}
export const followChanges = (_options: {
  client: unknown;
  onChange: (change: LiveChange) => void;
  onGap?: () => void;
  onState?: (state: 'live' | 'connecting' | 'offline' | 'refused') => void;
}): { close(): void } => ({ close: () => undefined });
