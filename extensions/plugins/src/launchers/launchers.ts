/** The eleven languages by name. */
import { bash } from './bash.js';
import { bun } from './bun.js';
import { deno } from './deno.js';
import { go } from './go.js';
import type { Launcher, Runtime } from './launcher.js';
import { lua } from './lua.js';
import { native } from './native.js';
import { node } from './node.js';
import { php } from './php.js';
import { python } from './python.js';
import { ruby } from './ruby.js';
import { v } from './v.js';

export const LAUNCHERS: Readonly<Record<Runtime, Launcher>> = { python, native, v, node, deno, go, ruby, bash, bun, php, lua };

const all: readonly Launcher[] = Object.values(LAUNCHERS);

/** By its name or another name of it; undefined for no runtime. */
export const launcherOf = (name: string): Launcher | undefined => all.find(({ runtime, aliases }) => runtime === name || aliases.includes(name));
