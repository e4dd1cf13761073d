/** extension.json: what the daemon needs to know before it runs a line of an extension. Identity stands in package.json. */
import { CAPABILITY_NAME, type CapabilityDecl } from '../declare/capability.js';
import type { LiveSpec } from '../declare/event.js';
import { GRANT_KINDS, GRANT_PATTERN } from './grants.js';
import type { CollectionView } from '../declare/collection-view.js';
import { Panel } from './panel.js';
import { type Static, Type } from '../schema/schema.js';

/**
 * Single hyphens within, none at the end: with `-` written as `_`, the first `__` of a physical table name stands
 * between the id and the table. The platform and the databases keep some ids for themselves.
 */
const Id = Type.String({ minLength: 2, maxLength: 41, pattern: '^(?!(?:kernel|journal|svc)$|(?:sqlite|pg)(?:-|$))[a-z][a-z0-9]*(?:-[a-z0-9]+)*$' });
const Range = Type.String({ minLength: 1, maxLength: 100 });
const GrantText = Type.String({
  pattern: GRANT_PATTERN,
  description: Object.values(GRANT_KINDS)
    .map(({ form, what }) => `${form}: ${what}`)
    .join('\n'),
});
const closed = { additionalProperties: false };

export const Manifest = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    manifest: Type.Literal(1),
    id: Id,
    api: Range,
    presets: Type.Optional(
      Type.Array(Type.Union([Type.Literal('minimal'), Type.Literal('standard'), Type.Literal('full')]), {
        uniqueItems: true,
        description: 'The presets that switch it on; only for extensions that come with svc',
      }),
    ),
    activation: Type.Optional(Type.Union([Type.Literal('onStartup'), Type.Literal('onFirstUse')])),
    replace: Type.Optional(Type.Union([Type.Literal('overlap'), Type.Literal('stop-first')])),
    drainMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
    provides: Type.Optional(Type.Record(Type.String(), Type.Union([Range, Type.Array(Range, { minItems: 1 })]))),
    requires: Type.Optional(Type.Record(Type.String(), Range)),
    optional: Type.Optional(Type.Record(Type.String(), Range)),
    after: Type.Optional(Type.Array(Id)),
    conflicts: Type.Optional(Type.Array(Id)),
    hooks: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String(),
            stage: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
            why: Type.Optional(Type.String({ description: 'Shown to the person who installs it' })),
            whileNeeded: Type.Optional(Type.Boolean({ description: 'Tapped only while there is something to do, so that it costs nothing otherwise' })),
          },
          closed,
        ),
      ),
    ),
    defines: Type.Optional(Type.Array(Type.String(), { description: 'Hooks this extension owns' })),
    events: Type.Optional(
      Type.Object({ publishes: Type.Optional(Type.Array(Type.String())), listens: Type.Optional(Type.Array(Type.String())), durable: Type.Optional(Type.Array(Type.String())) }, closed),
    ),
    config: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Object({ section: Type.String() }, closed),
          Type.Object({ key: Type.String({ pattern: '^/[a-z_]+$' }) }, closed),
          Type.Object(
            {
              setting: Type.String({
                pattern: '^((api|web)\\.[a-z_]+|exec_policy\\.(allowed_commands|safe_bins|no_output_timeout_secs))$',
                description: 'A key of the section [api] or [web], or one of [exec_policy] that is listed',
              }),
            },
            closed,
          ),
        ]),
      ),
    ),
    tables: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_]{0,40}$' }))),
    kinds: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z][a-z0-9._-]{0,40}$' }), { description: 'Kinds of durable work that only this extension begins, claims and lists' })),
    capabilities: Type.Optional(Type.Array(Type.String({ pattern: CAPABILITY_NAME }), { description: 'Capabilities of agents that this extension declares' })),
    workers: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          { entry: Type.String(), lane: Type.Union([Type.Literal('quick'), Type.Literal('bulk')]), timeoutMs: Type.Integer({ minimum: 1 }), memoryMb: Type.Optional(Type.Integer({ minimum: 16 })) },
          closed,
        ),
      ),
    ),
    panels: Type.Optional(Type.Array(Panel, { description: 'Panels that it adds to the page' })),
    grants: Type.Optional(Type.Array(Type.Object({ grant: GrantText, why: Type.String(), optional: Type.Optional(Type.Boolean()) }, closed))),
    hostDependencies: Type.Optional(Type.Array(Type.String())),
    when: Type.Optional(Type.String({ pattern: '^/' })),
  },
  { $id: 'ExtensionManifest', additionalProperties: false, patternProperties: { '^x-': {} } },
);
export type Manifest = Static<typeof Manifest>;

/** The names of what an extension adds: what an installation knows of it before it runs, and what its activation is held to. */
export interface Contributions {
  /** `METHOD path`, sorted. */
  readonly routes: readonly string[];
  readonly sockets: readonly string[];
  readonly tools: ReadonlyArray<{ readonly name: string; readonly risk: string; readonly replay: string }>;
  /** Those that begin with the extension; `svc ext info` also shows those of the moment. */
  readonly timers: ReadonlyArray<{ readonly name: string; readonly everyMs?: number; readonly afterMs?: number }>;
  /** Names, in order. What each does is hashed in the database when it is applied. */
  readonly migrations: readonly string[];
  /** JSON Schemas of the claimed config sections. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Whole: by them manifests are read and calls validated, whether or not the extension is on. */
  readonly capabilities: readonly CapabilityDecl[];
  /** Its slash commands, each with its aliases: `reset reboot`. */
  readonly slashCommands?: readonly string[];
  /** First words of its commands. */
  readonly commandWords?: readonly string[];
  /** Collections as the page draws them. */
  readonly collections?: readonly CollectionView[];
  /** Of its completions with a key: lists of what fields of others refer to, by their name. */
  readonly references?: CollectionView['references'];
  /** The events that pages hear of, by name. */
  readonly live?: Readonly<Record<string, LiveSpec>>;
  /** By service: what extensions from elsewhere can do by it, in words. */
  readonly services?: Readonly<Record<string, readonly string[]>>;
}
