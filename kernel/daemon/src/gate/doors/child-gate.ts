/** `exec`, `spawn` and `endSurvivors`: which programs, and whose children they are. */
import type { ExtensionContext } from '@svc/api';
import type { Member } from '../member.js';

/** Nothing keeps it from the port of this daemon. */
const UNSANDBOXED = 'a program that an agent runs without a sandbox';

export const childMembers = ({ parts, owner, grants, alive }: Member): Pick<ExtensionContext, 'exec' | 'spawn' | 'endSurvivors'> => {
  const admit = (command: string, env: Readonly<Record<string, string>> = {}): void => {
    alive();
    grants.need('exec', command);
    // A program of that name found elsewhere is another program.
    if (!grants.has('exec') && Object.keys(env).some((name) => name.toUpperCase() === 'PATH')) grants.need('exec');
  };
  return {
    exec: async (command, args, options) => {
      admit(command, options.env);
      await parts.ownerKey.need(UNSANDBOXED);
      return parts.execDoor.exec(command, args, options);
    },
    spawn: async (command, args, options) => {
      admit(command, options.env);
      await parts.ownerKey.need(UNSANDBOXED);
      const { signal } = owner.lifetime;
      const child = await parts.execDoor.spawn(owner.id, command, args, { ...options, signal: options.signal ? AbortSignal.any([options.signal, signal]) : signal });
      const owned = owner.lifetime.add(`child ${child.pid} (${command})`, async () => void (await child.kill()));
      void child.exit.then(() => owned.dispose());
      return child;
    },
    endSurvivors: async (key) => {
      alive();
      if (!grants.has('exec')) grants.need('survivors');
      return parts.execDoor.endSurvivors(key);
    },
  };
};
