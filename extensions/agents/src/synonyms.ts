/** Other words for commands of agents. */
import type { CommandSynonym } from '@svc/api';

const same = (words: readonly string[], means: string): CommandSynonym[] => words.map((word) => ({ word, means, runs: true, takesArguments: true }));

export const agentSynonyms: readonly CommandSynonym[] = [
  { word: 'agents', means: 'agent list', runs: true },
  { word: 'templates', means: 'agent templates', runs: true },
  ...same(['agents list'], 'agent list'),
  ...same(['spawn', 'agents spawn'], 'agent spawn'),
  ...same(['kill', 'agents delete', 'agents kill'], 'agent kill'),
  ...same(['agent create', 'agent add', 'agents add', 'agents create', 'agents new'], 'agent new'),
  ...same(['agent get', 'agent info', 'agent inspect'], 'agent show'),
];
