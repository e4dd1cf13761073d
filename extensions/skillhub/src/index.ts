import { defineExtension, openResource } from '@svc/api';
import { Skills } from '@svc/ext-skills/contract';
import { commands } from './commands.js';
import { hubErrors } from './errors.js';
import { createHub, type HubKind } from './hub.js';
import { createHubClient, type HubClient } from './hub-client.js';
import { HubSkills } from './resources.js';
import { emptyList, hubRoutes } from './routes.js';

const KEYS: Readonly<Record<HubKind, string>> = { skillhub: '[skills] hub_url', 'skillhub-cn': '[skills] hub_mirror_url' };

export default defineExtension({
  resources: [HubSkills],
  commands,
  activate(ctx) {
    const skills = ctx.services.require(Skills);
    const clients = new Map<HubKind, { readonly url: string; readonly client: HubClient }>();
    const urlOf = async (kind: HubKind): Promise<string> => {
      const { url, mirrorUrl } = await skills.hubs();
      return kind === 'skillhub' ? url : mirrorUrl;
    };
    const client = async (kind: HubKind): Promise<HubClient> => {
      const url = await urlOf(kind);
      const known = clients.get(kind);
      if (known && known.url === url) return known.client;
      known?.client.close();
      clients.delete(kind);
      if (url === '') throw hubErrors.not_set(KEYS[kind]);
      const made = createHubClient(ctx, url);
      clients.set(kind, { url, client: made });
      return made;
    };
    const hub = createHub({ skills, client });
    const open = openResource(HubSkills, {
      list: ({ actor, query }) => hub.browse(actor, 'skillhub', query),
      get: ({ actor, key, req }) => hub.detail(actor, key, ownerOf(req.query)),
      actions: {
        code: ({ key, query }) => hub.code(key, query.owner),
        search: ({ actor, query }) => hub.search(actor, 'skillhub', query),
        plan: ({ actor, body }) => hub.plan(actor, body),
        install: async ({ actor, body }) => {
          const { replace = false, discard_edits: discardEdits = false, accept_findings: acceptFindings = false, accept_suspicious: acceptSuspicious = false, expected_sha256: expectedSha256 } = body;
          const choices = { verify: true, replace, discardEdits, acceptFindings, ...(expectedSha256 === undefined ? {} : { expectedSha256 }) };
          const { name, version, digest, file, hasPrograms, warnings } = await hub.install(actor, body, choices, acceptSuspicious);
          return {
            ...{ status: 'installed' as const, skill: name, name, slug: body.slug, version, digest, converted_from: file, is_prompt_only: !hasPrograms },
            warnings: warnings.map((message) => ({ severity: 'warning' as const, message })),
          };
        },
      },
    });
    ctx.routes.add(...open.routes.map((route) => (route.id === 'browseSkillhub' || route.id === 'searchSkillhub' ? { ...route, errorShape: emptyList } : route)));
    ctx.routes.add(...hubRoutes({ hub, skills, isSet: async () => (await urlOf('skillhub')) !== '' }));
  },
});

const ownerOf = (query: unknown): string | undefined => {
  const { owner } = query as { owner?: string };
  return owner;
};
