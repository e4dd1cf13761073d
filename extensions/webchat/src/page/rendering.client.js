/**
 * Text to document nodes. Light markdown: fenced and inline code, bold, headings, links, line breaks.
 * Only textContent and createElement: whatever the text holds, it stays text.
 */
{
  const INLINE = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(https?:\/\/[^\s<>"')\]]*[^\s<>"')\].,;:!?])/g;
  const FENCE = /^\s*(```|~~~)/;

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const link = (address) => {
    const made = element('a', '', address);
    made.href = address;
    made.rel = 'noopener noreferrer';
    made.target = '_blank';
    return made;
  };

  const inline = (parent, text) => {
    let from = 0;
    for (const match of text.matchAll(INLINE)) {
      parent.append(text.slice(from, match.index));
      if (match[1]) parent.append(element('code', '', match[1].slice(1, -1)));
      else if (match[2]) parent.append(element('strong', '', match[2].slice(2, -2)));
      else parent.append(link(match[3]));
      from = match.index + match[0].length;
    }
    parent.append(text.slice(from));
  };

  const codeBlock = (text) => {
    const block = element('div', 'block');
    const pre = element('pre');
    pre.tabIndex = 0; // wide code scrolls; the keyboard must reach it
    pre.append(element('code', '', text));
    const copy = element('button', '', 'Copy');
    copy.type = 'button';
    copy.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = 'Copied';
      } catch {
        copy.textContent = 'Select it by hand'; // no clipboard outside https and localhost
      }
    });
    block.append(pre, copy);
    return block;
  };

  const paragraph = (text) => {
    const heading = /^#{1,6}\s+(.*)$/.exec(text);
    const made = element('p', heading ? 'heading' : '');
    inline(made, heading ? heading[1] : text);
    return made;
  };

  /** Splits text into closed blocks and what is still open: a paragraph without its empty line, a fence without its end. */
  const split = (text) => {
    const blocks = [];
    let lines = [];
    let isCode = false;
    const close = () => {
      if (lines.length > 0) blocks.push({ isCode, text: lines.join('\n') });
      lines = [];
    };
    let consumed = 0;
    let position = 0;
    for (const line of text.split('\n')) {
      position += line.length + 1;
      if (FENCE.test(line)) {
        if (isCode && lines.length === 0) lines.push('');
        close();
        isCode = !isCode;
        if (!isCode) consumed = position;
      } else if (isCode) lines.push(line);
      else if (line.trim() === '' || /^#{1,6}\s/.test(line)) {
        close();
        if (line.trim() !== '') blocks.push({ isCode: false, text: line });
        if (position <= text.length) consumed = position;
      } else lines.push(line);
    }
    close();
    return { blocks, consumed: Math.min(consumed, text.length) };
  };

  const nodes = (blocks) => blocks.map((block) => (block.isCode ? codeBlock(block.text) : paragraph(block.text)));

  /** Grows a text in place. Closed blocks are never touched again, so a selection in them holds while the rest streams. */
  const growingText = (parent) => {
    let open = '';
    let openNodes = [];
    let isDrawing = false;
    const draw = () => {
      isDrawing = false;
      const { consumed } = split(open);
      for (const node of openNodes) node.remove();
      if (consumed > 0) {
        parent.append(...nodes(split(open.slice(0, consumed)).blocks));
        open = open.slice(consumed);
      }
      openNodes = nodes(split(open).blocks);
      parent.append(...openNodes);
    };
    return {
      add: (text, drawn) => {
        open += text;
        if (isDrawing) return;
        isDrawing = true;
        // Once a frame: a fast model sends more often than a screen can show.
        requestAnimationFrame(() => {
          if (isDrawing) draw();
          drawn?.();
        });
      },
      finish: () => draw(),
      clear: () => {
        open = '';
        openNodes = [];
        isDrawing = false;
        parent.replaceChildren();
      },
    };
  };

  globalThis.svcRendering = { element, growingText };
}
