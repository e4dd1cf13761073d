/** What contexts are built from: the parts of the platform, the registries of the wiring, and what one generation has of its own. */
import type { AnyTool, DeclaredCapabilities, Dir, Ids, KernelView, Schemas, SlashCommand } from '@svc/api';
import type { ActorRegistry, Contributor, ContractValidator, ContributionRegistry, EventHub, HookRegistry, LiveRegistry, ServiceRegistry } from '@svc/core';
import type { ExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import type { FetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import type { ModelOrigins } from '@svc/platform/adapters/fetch/model-origins';
import type { SecretsAdapter } from '@svc/platform/adapters/secrets-adapter';
import type { TcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import type { WebSocketAdapter } from '@svc/platform/adapters/web-socket/web-socket-adapter';
import type { KernelAudit } from '@svc/platform/audit/audit-notes';
import type { Bus } from '@svc/platform/bus/bus';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Config } from '@svc/platform/config/config';
import type { Home } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import type { KeyNeed } from '@svc/platform/config/owner-key';
import type { Http } from '@svc/platform/http/http-server';
import type { PlatformJournal } from '@svc/platform/journal/journal';
import type { Log } from '@svc/platform/log/log';
import type { Members } from '@svc/platform/members/members';
import type { Purges } from '@svc/platform/purge/purges';
import type { PlatformTrash } from '@svc/platform/purge/trash';
import type { Storage } from '@svc/platform/storage/storage';
import type { Projection } from '@svc/platform/streams/projections';
import type { StreamsAdmin, Topics } from '@svc/platform/streams/streams';
import type { WorkerPools } from '@svc/platform/workers/workers';
import type { Grants } from './access/grants-policy.js';
import type { Quotas } from './quotas/quotas.js';

export interface PlatformParts {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: TimerClock;
  readonly ids: Ids;
  readonly log: Log;
  readonly config: Config;
  readonly claims: () => SectionClaims;
  readonly bus: Bus;
  readonly storage: Storage;
  readonly journal: PlatformJournal;
  readonly members: Members;
  readonly streams: Topics & StreamsAdmin;
  readonly http: Http;
  readonly secrets: SecretsAdapter;
  readonly fetchAdapter: FetchAdapter;
  readonly modelOrigins: ModelOrigins;
  readonly execAdapter: ExecAdapter;
  /** Makes callers need a key, before something runs that could reach the port by itself. */
  readonly ownerKey: KeyNeed;
  readonly tcpAdapter: TcpAdapter;
  readonly webSocketAdapter: WebSocketAdapter;
  readonly openDir: (root: string) => Dir;
  readonly workers: WorkerPools;
  readonly schemas: Schemas;
}

export interface ContextParts extends PlatformParts {
  readonly hooks: HookRegistry;
  readonly services: ServiceRegistry;
  readonly events: EventHub;
  readonly tools: ContributionRegistry<AnyTool>;
  readonly slashCommands: ContributionRegistry<SlashCommand>;
  readonly timers: LiveRegistry;
  readonly ready: LiveRegistry;
  readonly projections: ContributionRegistry<Projection>;
  readonly declared: DeclaredCapabilities['declared'];
  readonly validator: ContractValidator;
  readonly actors: ActorRegistry;
  readonly purges: Purges;
  readonly trash: PlatformTrash;
  readonly quotas: Quotas;
  readonly audit: KernelAudit;
  kernel(): KernelView;
  /** Something threw where nobody waits: a timer, a listener. */
  reportUnhandled(owner: Contributor, place: string, error: unknown): void;
}

/** What every member of a context is built from. */
export interface Member {
  readonly parts: PlatformParts;
  readonly owner: Contributor;
  readonly grants: Grants;
  /** Throws `daemon_extension_stopped` when the generation is gone. */
  readonly alive: () => void;
  /** Something threw where nobody waits. */
  readonly reportUnhandled: (place: string, error: unknown) => void;
}
