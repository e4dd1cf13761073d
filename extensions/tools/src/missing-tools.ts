/** What a manifest names and this daemon does not have: its writer is told, so that nobody counts on it. */
import { type Capabilities, didYouMean } from '@svc/api';

const MAX_NAMED = 10;

/** `served`: the names of all tools that there are, whether or not they can be called now. */
export const missingTools = ({ tools, memory_read, memory_write }: Capabilities, served: readonly string[]): string[] => {
  const missing = tools.filter((name) => !name.includes('*') && !served.includes(name));
  const memory = [...(memory_read.length > 0 ? ['memory_read'] : []), ...(memory_write.length > 0 ? ['memory_write'] : [])];
  return [
    ...(missing.length === 0 ? [] : [`This daemon does not have ${listed(missing)}: the agent works without ${missing.length === 1 ? `it.${didYouMean(missing[0] ?? '', served)}` : 'them.'}`]),
    ...(memory.length === 0 || served.includes('memory_recall')
      ? []
      : [`[capabilities] ${memory.join(' and ')} ${memory.length === 1 ? 'has' : 'have'} no effect: this daemon has no memory tools, so the agent remembers its conversations and files alone.`]),
  ];
};

const listed = (names: readonly string[]): string => {
  const [shown, left] = [names.slice(0, MAX_NAMED), names.length - MAX_NAMED];
  return left > 0 ? `${shown.join(', ')} and ${left} more tools` : shown.length === 1 ? `the tool ${shown[0]}` : `the tools ${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
};
