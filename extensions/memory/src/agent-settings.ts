/** What holds for one agent: [proactive_memory] of config.toml, narrowed by the same table of its manifest. */
import type { Agent } from '@svc/ext-agents/contract';
import type { ProactiveConfig } from './config.js';

export interface AgentMemory {
  readonly memorizes: boolean;
  readonly recalls: boolean;
  readonly extractionModel: string | undefined;
}

/** A manifest switches off and names a model; it switches nothing on that the operator switched off. */
export const agentMemory = ({ manifest }: Pick<Agent, 'manifest'>, config: ProactiveConfig): AgentMemory => {
  const own = manifest.proactive_memory ?? {};
  const isOn = config.enabled && own.enabled !== false;
  return {
    memorizes: isOn && config.auto_memorize && own.auto_memorize !== false,
    recalls: isOn && config.auto_retrieve && own.auto_retrieve !== false && config.max_retrieve > 0,
    extractionModel: own.extraction_model ?? config.extraction_model,
  };
};
