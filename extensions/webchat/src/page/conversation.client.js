/** The conversation as it stands on the page: turns, tool calls, problems; and what a screen reader hears of it. */
{
  const { element, growingText } = globalThis.svcRendering;
  const NEAR_BOTTOM_PX = 80;
  const MAX_SHOWN_CHARS = 20000;

  const log = document.getElementById('log');
  const spoken = document.getElementById('spoken');

  const isAtBottom = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_BOTTOM_PX;
  const toBottom = () => {
    log.scrollTop = log.scrollHeight;
  };
  /** Follows the newest line, unless the reader has scrolled up to read. */
  const keepingPlace = (change) => {
    const follow = isAtBottom();
    change();
    if (follow) toBottom();
  };

  /** Read out whole lines: single tokens would be noise. */
  const speaker = () => {
    let rest = '';
    const say = (text) => {
      if (text.trim() === '') return;
      spoken.append(element('p', '', text.trim()));
      while (spoken.childElementCount > 20) spoken.firstElementChild.remove();
    };
    return {
      add: (text) => {
        rest += text;
        const end = rest.lastIndexOf('\n');
        if (end < 0) return;
        say(rest.slice(0, end));
        rest = rest.slice(end + 1);
      },
      finish: () => {
        say(rest);
        rest = '';
      },
      say,
    };
  };

  const shown = (value) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
    return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}\n… ${text.length - MAX_SHOWN_CHARS} more characters` : text;
  };

  const part = (title, value) => {
    const pre = element('pre', '', shown(value));
    pre.tabIndex = 0;
    return [element('h3', '', title), pre];
  };

  const toolCall = (name) => {
    const details = element('details', 'tool');
    const summary = element('summary');
    const state = element('span', 'state', 'running…');
    summary.append(element('span', 'name', name), state);
    details.append(summary);
    return {
      details,
      finish: ({ input, result, is_error: isError }) => {
        details.classList.add(isError ? 'failed' : 'ok');
        state.textContent = isError ? 'failed' : 'done';
        if (input !== undefined) details.append(...part('Input', input));
        if (result !== undefined) details.append(...part(isError ? 'Error' : 'Result', result));
      },
      abandon: () => {
        if (details.classList.length === 1) state.textContent = 'stopped';
      },
    };
  };

  const newTurn = (who, className) => {
    const turn = element('article', `turn ${className}`);
    const said = element('div', 'said');
    turn.append(element('h2', 'who', who), said);
    log.querySelector('.empty')?.remove();
    log.append(turn);
    return said;
  };

  const addMine = (text) => {
    spoken.replaceChildren(); // what was read out stands in the conversation
    const said = newTurn('You', 'mine');
    const grown = growingText(said);
    grown.add(text);
    grown.finish();
    toBottom();
  };

  /** One answer that is being given. Text between two tool calls is a block of its own. */
  const addAnswer = (who) => {
    const said = newTurn(who, 'theirs');
    const tools = new Map();
    const voice = speaker();
    let text;
    let textBox;
    const aside = element('p', 'aside waiting');
    said.append(aside);
    const quiet = (message, isWaiting = true) => {
      aside.textContent = message;
      aside.classList.toggle('waiting', isWaiting);
      said.append(aside);
    };
    const closeText = () => {
      text?.finish();
      text = undefined;
    };
    return {
      chunk: (content) => {
        aside.remove();
        if (text === undefined) {
          textBox = element('div', 'text');
          said.append(textBox);
          text = growingText(textBox);
        }
        const follow = isAtBottom();
        text.add(content, () => {
          if (follow) toBottom();
        });
        voice.add(content);
      },
      toolUse: ({ tool, id }) =>
        keepingPlace(() => {
          closeText();
          const made = toolCall(tool);
          tools.set(id ?? tool, made);
          said.append(made.details);
          quiet('');
        }),
      toolResult: (data) =>
        keepingPlace(() => {
          let made = tools.get(data.id ?? data.tool);
          if (made === undefined) {
            closeText();
            made = toolCall(data.tool);
            said.append(made.details);
          }
          made.finish(data);
          quiet('');
        }),
      /** The step that was open is sent anew: its text so far does not count. */
      restarted: () => {
        text?.clear();
        textBox?.remove();
        text = undefined;
        quiet('The daemon restarted; this step begins anew ');
      },
      quiet: (message, isWaiting) => keepingPlace(() => quiet(message, isWaiting)),
      problem: (message, hint) =>
        keepingPlace(() => {
          const box = element('div', 'problem');
          box.setAttribute('role', 'alert');
          box.append(element('p', '', message));
          if (hint) box.append(element('p', '', hint));
          said.append(box);
        }),
      finish: () =>
        keepingPlace(() => {
          closeText();
          aside.remove();
          for (const tool of tools.values()) tool.abandon();
          voice.finish();
          if (said.childElementCount === 0) said.append(element('p', 'aside', 'No text.'));
        }),
    };
  };

  /** One turn holds all that was said and done in answer to one message, as it did when it streamed. */
  const addHistory = (messages, who) => {
    let said;
    for (const message of messages) {
      if (message.role === 'User') {
        said = undefined;
        addMine(message.content);
        continue;
      }
      if (message.role !== 'Assistant') continue;
      said ??= newTurn(who, 'theirs');
      if (message.content) {
        const box = element('div', 'text');
        said.append(box);
        const grown = growingText(box);
        grown.add(message.content);
        grown.finish();
      }
      for (const call of message.tools ?? []) {
        const made = toolCall(call.name);
        made.finish(call);
        said.append(made.details);
      }
    }
    toBottom();
  };

  globalThis.svcConversation = {
    addMine,
    addAnswer,
    addHistory,
    clear: () => log.replaceChildren(),
    showEmpty: (text) => log.replaceChildren(element('p', 'empty', text)),
    say: (text) => speaker().say(text),
  };
}
