/**
 * What the extension has registered: handlers by the name under which the daemon asks for them.
 *
 * G1  Only while `activate` runs. Afterwards what it adds would be seen by nobody, and is refused by name.
 */
import type { AnyTool, CallControl, Disposable, EventDecl, HookDecl, Req, Reply, RouteDecl, ServiceDecl, SlashAnswer, SlashCall, SlashCommand, TapControl, ToolCall, ToolOutput } from '@svc/api';
import { declaredAs } from '@svc/api/internal';
import { isolationErrors } from '../errors.js';
import type { Registered } from '../protocol.js';

interface Timer {
  readonly name: string;
  readonly everyMs?: number;
  readonly afterMs?: number;
  readonly fn: () => unknown;
}

type Method = (...args: unknown[]) => unknown;

const NOTHING: Disposable = Object.freeze({ dispose: () => undefined });

export class Registrations {
  readonly #routes = new Map<string, RouteDecl>();
  readonly #tools = new Map<string, AnyTool>();
  readonly #slashCommands = new Map<string, SlashCommand>();
  readonly #taps: Array<{ readonly hook: HookDecl; readonly fn: (...args: never[]) => unknown }> = [];
  readonly #services = new Map<string, { readonly decl: ServiceDecl; readonly impl: object }>();
  readonly #listeners: Array<{ readonly event: EventDecl; readonly fn: (data: never) => unknown }> = [];
  readonly #timers = new Map<string, Timer>();
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  close(): void {
    this.#isOpen = false;
  }

  addRoutes(routes: readonly RouteDecl[]): Disposable {
    for (const route of routes) this.#add(this.#routes, `${route.method} ${route.path}`, route, 'the route');
    return NOTHING;
  }

  addTools(tools: readonly AnyTool[]): Disposable {
    for (const tool of tools) this.#add(this.#tools, tool.name, tool, 'the tool');
    return NOTHING;
  }

  addSlashCommands(commands: readonly SlashCommand[]): Disposable {
    for (const command of commands) this.#add(this.#slashCommands, command.name, command, 'the slash command');
    return NOTHING;
  }

  addTap(hook: HookDecl, fn: (...args: never[]) => unknown): Disposable {
    this.#open(`a tap of ${hook.name}`);
    this.#taps.push({ hook, fn });
    return NOTHING;
  }

  addService(decl: ServiceDecl, impl: object): Disposable {
    this.#add(this.#services, `${decl.name}@${decl.version}`, { decl, impl }, 'the service');
    return NOTHING;
  }

  addListener(event: EventDecl, fn: (data: never) => unknown): Disposable {
    this.#open(`a listener of ${event.name}`);
    this.#listeners.push({ event, fn });
    return NOTHING;
  }

  addTimer(timer: Timer): Disposable {
    this.#add(this.#timers, timer.name, timer, 'the timer');
    return { dispose: () => void this.#timers.delete(timer.name) };
  }

  describe(hasStart: boolean): Registered {
    return {
      routes: [...this.#routes.keys()],
      tools: [...this.#tools.keys()],
      slashCommands: [...this.#slashCommands.keys()],
      taps: this.#taps.map(({ hook }) => declaredAs(hook)),
      services: [...this.#services].map(([name, { decl }]) => ({ name, methods: Object.keys(decl.methods) })),
      listens: this.#listeners.map(({ event }) => event.name),
      timers: [...this.#timers.values()].map(({ fn: _fn, ...timer }) => timer),
      hasStart,
    };
  }

  async route(name: string, req: Req<never, never, never>): Promise<Reply> {
    return found(this.#routes.get(name), name).handler(req);
  }

  async tool(name: string, args: never, call: ToolCall): Promise<ToolOutput | string> {
    return found(this.#tools.get(name), name).run(args, call);
  }

  async slash(name: string, call: SlashCall): Promise<SlashAnswer> {
    return found(this.#slashCommands.get(name), name).run(call);
  }

  async tap(name: string, nth: number, args: readonly unknown[], control: TapControl): Promise<unknown> {
    const { hook, fn } = found(this.#taps.filter(({ hook: one }) => declaredAs(one) === name)[nth], `tap ${name}`);
    // What a tap is called with follows from the kind of its hook: a pipe's context stands before the control.
    const call = fn as (...given: unknown[]) => unknown;
    return hook.kind === 'pipe' ? call(args[0], args[1], control) : call(args[0], control);
  }

  service(name: string, method: string, args: readonly unknown[], control: CallControl): unknown {
    const { decl, impl } = found(this.#services.get(name), name);
    const fn: unknown = Object.hasOwn(decl.methods, method) ? Reflect.get(impl, method) : undefined;
    if (typeof fn !== 'function') throw isolationErrors.unknown_target(`${name}.${method}`);
    return (fn as Method).call(impl, ...args, control);
  }

  async listener(name: string, data: never): Promise<void> {
    await Promise.all(this.#listeners.filter(({ event }) => event.name === name).map(async ({ fn }) => fn(data)));
  }

  async timer(name: string): Promise<void> {
    await found(this.#timers.get(name), name).fn();
  }

  #open(what: string): void {
    if (!this.#isOpen) throw isolationErrors.late_registration(what);
  }

  #add<T>(into: Map<string, T>, name: string, value: T, what: string): void {
    this.#open(`${what} ${name}`);
    if (into.has(name)) throw new Error(`${what} ${name} is registered twice`);
    into.set(name, value);
  }
}

const found = <T>(value: T | undefined, name: string): T => {
  if (value === undefined) throw isolationErrors.unknown_target(name);
  return value;
};
