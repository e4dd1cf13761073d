/**
 * Commands of the command line, declared as data: `svc goals list` calls one operation and prints its answer. An
 * extension in a process of its own has them too, and none of its code runs in the command line.
 */

export interface CommandColumn {
  /** A field of a row; `agent.name` looks inside. */
  readonly field: string;
  /** The heading; default: the field in capitals. */
  readonly title?: string;
  readonly format?: 'text' | 'ago' | 'bytes' | 'number' | 'usd' | 'percent' | 'duration' | 'yes';
  /** For `duration`: what one is. */
  readonly unit?: string;
  /** Shown where there is no value: `no limit`. */
  readonly none?: string;
  /** Shown for 0: `no limit`. */
  readonly zero?: string;
  /** May be cut with `…` in a narrow terminal. Ids and names that a person must copy may not. */
  readonly shrinks?: boolean;
  /** Is left out in a narrow terminal. */
  readonly givesWay?: boolean;
}

export type CommandOutput =
  /** `rows`: the field of the answer with the list; omit it if the answer is the list. `empty`: the text for an empty list. */
  | { readonly kind: 'table'; readonly rows?: string; readonly columns: readonly CommandColumn[]; readonly empty: string }
  /** Each field of the answer on a line of its own, or those named here; a column has a format, too. */
  | { readonly kind: 'record'; readonly fields?: ReadonlyArray<string | CommandColumn> }
  /** One line; `{id}` is replaced with a field of the answer, or an argument. */
  | { readonly kind: 'line'; readonly text: string };

/** A first word after `svc`. An extension has its id without declaring it; a word belongs to one extension alone. */
export interface CommandWordDecl {
  readonly word: string;
  /** A few words for the help, without a full stop. Without this declaration it is the description of package.json. */
  readonly summary: string;
  /** `agent list|new|show|…`; default: made of its commands. */
  readonly usage?: string;
  /** Position in the help, lower first; default 50. */
  readonly order?: number;
  /** The group of the help, as panels have it: `chat`, `agents` …; default: that of the extension's first panel, else `more`. */
  readonly hub?: string;
  /** For built-in extensions: the file in its folder `cli` that defines commands by hand, in addition to those in `commands`. */
  readonly module?: string;
  /** Other words that people type, each with the command that is meant. */
  readonly synonyms?: readonly CommandSynonym[];
}

export interface CommandSynonym {
  /** One word, two, or words and an option: `kill`, `agent inspect`, `agent list --all`. */
  readonly word: string;
  readonly means: string;
  /** Typed alone, it does the same. Otherwise, and where it is false, `means` is named in the hint. */
  readonly runs?: boolean;
  /** With `runs`: it does the same with what follows it, too. */
  readonly takesArguments?: boolean;
}

/**
 * What Tab offers for an argument or the value of an option, in the commands of all extensions: `fields: ['agent']` is for
 * `<agent>` and `--agent`. `svc completion NAME` prints the words; where the daemon does not answer within half a second there are none.
 */
export interface CompletionDecl {
  /** Of the source: `agents`. Of two with one name, or for one field, the one that came with svc counts. */
  readonly name: string;
  readonly fields: readonly string[];
  /** The id of the route that lists them: a GET that needs no input. */
  readonly operation: string;
  /** The field of the answer that holds the list; left out where the answer is the list. */
  readonly rows?: string;
  /** The field of a row that is offered. */
  readonly value: string;
  /** The field of a row with its id: then fields whose `x-of` is this completion's name take a name or an id. */
  readonly key?: string;
}

/**
 * Fields of the path, the query and the body of the operation become flags: `agent_id` is `--agent-id`, a list is given by
 * repeating its flag, and an object as JSON. A flag that every command has (`--port`) is `--field-port` here. `--file` gives
 * the body as a JSON file, or the bytes of a route that takes bytes; `-` is stdin.
 */
export interface CommandDecl {
  /** The two words after `svc`: the id of the extension or a word that it declares, then the verb: `goals list`. */
  readonly command: string;
  /** A few words for the help, without a full stop. */
  readonly summary: string;
  /** The id of the route that it calls: its schemas give the flags, their help and their completion. */
  readonly operation: string;
  /** Fields of the path, the query or the body that are given as words instead of flags, in order; the last may be a list. A path's fields are always among them: those that are left out come first. */
  readonly args?: readonly string[];
  readonly output: CommandOutput;
  /** A confirmation before the command runs; `{id}` is replaced with an argument. `--yes` skips it. */
  readonly confirm?: string;
}
