/** What llm knows of the agents and the models that lists show. */
import { allKnown, type AtOnceService, type TapOf, whenKnown } from '@svc/api';
import type { AgentColumns } from '@svc/ext-agents/contract';
import type { ModelColumns } from '@svc/ext-models/contract';
import type { LlmService } from './contract.js';

export const decorateAgents =
  (llm: Pick<AtOnceService<LlmService>, 'canThink' | 'spending'>): TapOf<typeof AgentColumns> =>
  ({ actor, agents, since }) => {
    const ids = agents.map(({ id }) => id);
    const thinking = allKnown(agents.map(({ provider, model }) => llm.canThink({ provider, model })));
    return whenKnown(allKnown([llm.spending(actor, ids, since), thinking]), ([spentMicros, canThink]) => ({
      spentMicros,
      canThink: Object.fromEntries(ids.map((id, index) => [id, canThink[index] ?? null])),
    }));
  };

export const decorateModels =
  (llm: Pick<AtOnceService<LlmService>, 'canThink'>): TapOf<typeof ModelColumns> =>
  ({ models }) =>
    whenKnown(allKnown(models.map(({ id, provider }) => llm.canThink({ provider, model: id }))), (canThink) => ({ canThink }));
