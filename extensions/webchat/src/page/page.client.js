/** The page: which agent, which model, sending and stopping, the key, and what was open when the page was reloaded. */
{
  const { element } = globalThis.svcRendering;
  const daemon = globalThis.svcDaemon;
  const conversation = globalThis.svcConversation;
  const AGENT = 'svc-agent';
  const OPEN_RUN = 'svc-open-run';
  /** These end the conversation shown. */
  const BEGINS_ANEW = /^\/(new|reset|reboot)\b/;
  const FIRST_AGENT = 'name = "assistant"\ndescription = "Helps with anything."\n\n[model]\nprovider = "default"\nmodel = "default"\nsystem_prompt = "You are a helpful assistant."\n';

  const byId = (id) => document.getElementById(id);
  const [select, model, notice, form, input, send, stop] = ['agent', 'model', 'notice', 'composer', 'message', 'send', 'stop'].map(byId);
  const [keyDialog, keyForm, keyInput, keyRefused] = ['key-dialog', 'key-form', 'key', 'key-refused'].map(byId);

  const state = { agents: [], status: {}, agent: undefined, isAnswering: false };

  /** Runs something that needs the daemon: asks for the key when that is what is missing, shows anything else. */
  const guarded = async (work) => {
    try {
      return await work();
    } catch (error) {
      if (error.status === 401) askForKey();
      else showProblem(error, work);
      return undefined;
    }
  };

  const askForKey = () => {
    keyRefused.hidden = daemon.key.get() === '';
    daemon.key.drop();
    if (!keyDialog.open) keyDialog.showModal();
    keyInput.focus();
  };

  const showNotice = (text, label, act) => {
    notice.replaceChildren(text);
    notice.hidden = text === '';
    if (label === undefined) return;
    const button = element('button', '', label);
    button.type = 'button';
    button.addEventListener('click', act);
    notice.append(button);
  };

  const showProblem = (error, again) => showNotice(`${error.message} ${error.hint ?? ''}`, 'Try again', () => guarded(again));

  const load = async () => {
    const [agents, status] = await Promise.all([daemon.agents(), daemon.status()]);
    state.agents = agents;
    state.status = status;
    showNotice('');
    if (agents.length === 0) return showNoAgents();
    const wanted = localStorage.getItem(AGENT);
    state.agent = agents.find((agent) => agent.id === (state.agent?.id ?? wanted)) ?? agents[0];
    select.replaceChildren(...agents.map((agent) => new Option(agent.name, agent.id, false, agent.id === state.agent.id)));
    select.disabled = state.isAnswering;
    input.disabled = false;
    send.disabled = false;
    showModel();
    return undefined;
  };

  const showNoAgents = () => {
    select.replaceChildren(new Option('no agents'));
    model.textContent = '';
    conversation.showEmpty('There are no agents yet.');
    showNotice('Create one from a manifest with svc agent spawn MANIFEST.toml, or', 'Create an assistant', () =>
      guarded(async () => {
        await daemon.spawn(FIRST_AGENT);
        await open();
      }),
    );
  };

  /** Which model answers this agent; when that is the built-in stand-in, what to do about it. */
  const showModel = () => {
    const { status, agent } = state;
    const isDefault = agent.model_provider === 'default' || agent.model_provider === status.default_provider;
    const provider = agent.model_provider === 'default' ? status.default_provider : agent.model_provider;
    const name = agent.model_name === 'default' ? status.default_model : agent.model_name;
    model.textContent = `${provider} / ${name}`;
    model.title = isDefault && status.default_model_why ? status.default_model_why : model.textContent;
    if (isDefault && status.default_model_stand_in) showNotice('A built-in stand-in answers, not a real model. For one, in a terminal: svc providers set-key <provider>');
  };

  const showSession = async () => {
    const agent = state.agent;
    const session = await daemon.session(agent.id);
    if (state.agent !== agent) return; // another was chosen meanwhile
    const interrupted = openRun(agent.id);
    const messages = interrupted === undefined ? session.messages : before(session.messages, interrupted.message);
    conversation.clear();
    if (messages.length === 0 && interrupted === undefined) conversation.showEmpty(`Say something to ${agent.name}.`);
    conversation.addHistory(messages, agent.name);
    if (interrupted !== undefined) answer(interrupted.message, interrupted.key);
  };

  /** The run that this tab was watching when it was reloaded. */
  const openRun = (agentId) => {
    const kept = JSON.parse(sessionStorage.getItem(OPEN_RUN) ?? 'null');
    return kept?.agentId === agentId ? kept : undefined;
  };

  /** History up to the message whose run is shown live. */
  const before = (messages, text) => {
    const at = messages.findLastIndex((message) => message.role === 'User');
    return at >= 0 && messages[at].content === text ? messages.slice(0, at) : messages;
  };

  const open = () =>
    guarded(async () => {
      await load();
      if (state.agent === undefined) return;
      await showSession();
      input.focus();
    });

  const setAnswering = (isAnswering) => {
    const hadFocus = [send, stop].includes(document.activeElement);
    state.isAnswering = isAnswering;
    send.hidden = isAnswering;
    stop.hidden = !isAnswering;
    stop.disabled = false;
    select.disabled = isAnswering;
    if (hadFocus) input.focus();
  };

  const answer = async (text, key) => {
    const agent = state.agent;
    sessionStorage.setItem(OPEN_RUN, JSON.stringify({ agentId: agent.id, message: text, key }));
    if (BEGINS_ANEW.test(text)) conversation.clear();
    conversation.addMine(text);
    const turn = conversation.addAnswer(agent.name);
    setAnswering(true);
    try {
      const onLost = (isLost) => turn.quiet(isLost ? 'Connection lost, taking it up again ' : '');
      for await (const { event, data } of daemon.stream(agent.id, text, key, onLost)) show(turn, event, data);
    } catch (error) {
      if (error.status === 401) askForKey();
      turn.problem(error.message, error.hint);
    } finally {
      sessionStorage.removeItem(OPEN_RUN);
      turn.finish();
      setAnswering(false);
    }
    // A command may have changed the model, the agent or the session.
    if (text.startsWith('/')) guarded(load);
  };

  const show = (turn, event, data) => {
    if (event === 'chunk') turn.chunk(data.content);
    else if (event === 'tool_use') turn.toolUse(data);
    else if (event === 'tool_result') turn.toolResult(data);
    else if (event === 'error') turn.problem(data.error, data.hint);
    else if (event === 'phase') showPhase(turn, data);
    else if (event === 'done' && data.result?.finish === 'cancelled') turn.problem('Stopped.', '');
  };

  const showPhase = (turn, { phase, detail }) => {
    if (phase === 'queued') turn.quiet('Waits for the answer before this one ');
    else if (phase === 'waiting') turn.quiet(`Waits for an approval${detail ? `: ${detail}` : ''} `);
    else if (phase === 'restarted') turn.restarted();
    else if (phase === 'thinking') turn.quiet('');
  };

  const fit = () => {
    input.style.height = 'auto';
    input.style.height = `${input.scrollHeight + 2}px`;
  };

  const submit = () => {
    const text = input.value.trim();
    if (text === '' || state.isAnswering || state.agent === undefined) return;
    input.value = '';
    fit();
    answer(text, newKey());
  };

  /** crypto.randomUUID exists only on https and localhost; a daemon may be reached by its address in the network. */
  const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

  const stopAnswer = () => {
    if (!state.isAnswering) return;
    stop.disabled = true;
    conversation.say('Stopping');
    guarded(() => daemon.stop(state.agent.id)).finally(() => {
      stop.disabled = false;
    });
  };

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  input.addEventListener('input', fit);
  stop.addEventListener('click', stopAnswer);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !keyDialog.open) stopAnswer();
  });
  select.addEventListener('change', () => {
    localStorage.setItem(AGENT, select.value);
    state.agent = state.agents.find((agent) => agent.id === select.value);
    showNotice('');
    showModel();
    guarded(showSession);
  });
  keyForm.addEventListener('submit', (event) => {
    event.preventDefault();
    daemon.key.set(keyInput.value.trim());
    keyInput.value = '';
    keyDialog.close();
    open();
  });
  open();
}
