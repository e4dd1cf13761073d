/**
 * Draws Mermaid diagrams. It runs in the sandbox document, away from the page: Mermaid makes markup of what a model wrote, and
 * needs inline styles. It answers one port; the page shows the picture as an image, in which nothing runs or leads anywhere.
 */
import mermaid from 'mermaid';
import type { DiagramAnswer, DiagramRequest } from './diagram-messages.js';

const MAX_EDGES = 300;
/** What no directive of a diagram may change. */
const SECURE = ['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'maxEdges', 'suppressErrorRendering', 'htmlLabels', 'fontFamily', 'themeCSS', 'dompurifyConfig', 'theme', 'darkMode'];

const configure = ({ colours, fontFamily, isDark, maxChars }: DiagramRequest): void =>
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    secure: SECURE,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    maxTextSize: maxChars,
    maxEdges: MAX_EDGES,
    suppressErrorRendering: true,
    fontFamily,
    theme: 'base',
    darkMode: isDark,
    themeVariables: {
      darkMode: isDark,
      fontFamily,
      background: colours.surface,
      mainBkg: colours.accentSoft,
      primaryColor: colours.accentSoft,
      primaryTextColor: colours.text,
      primaryBorderColor: colours.accent,
      secondaryColor: colours.sunk,
      secondaryTextColor: colours.text,
      tertiaryColor: colours.surface,
      tertiaryTextColor: colours.text,
      tertiaryBorderColor: colours.edge,
      lineColor: colours.muted,
      textColor: colours.text,
      titleColor: colours.text,
      edgeLabelBackground: colours.surface,
      noteBkgColor: colours.sunk,
      noteTextColor: colours.text,
      noteBorderColor: colours.edge,
      clusterBkg: colours.sunk,
      clusterBorder: colours.edge,
    },
  });

/** As an image reads it: well-formed, with a size of its own. */
const asImage = (markup: string): Omit<Extract<DiagramAnswer, { svg: string }>, 'id'> => {
  const template = document.createElement('template');
  template.innerHTML = markup;
  const svg = template.content.querySelector('svg');
  if (!svg) throw new Error('There is no picture.');
  const [, , width = 0, height = 0] = (svg.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!(width > 0 && height > 0)) throw new Error('The picture has no size.');
  svg.setAttribute('width', String(width));
  svg.setAttribute('height', String(height));
  svg.style.maxWidth = '';
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
};

const answered = async (request: DiagramRequest): Promise<DiagramAnswer> => {
  try {
    configure(request);
    const { svg } = await mermaid.render(`diagram-${request.id}`, request.text);
    return { id: request.id, ...asImage(svg) };
  } catch (error) {
    return { id: request.id, fault: error instanceof Error ? error.message : String(error) };
  }
};

addEventListener('message', ({ source, ports: [port] }) => {
  if (source !== parent || !port) return;
  port.onmessage = async ({ data }: MessageEvent<DiagramRequest>) => port.postMessage(await answered(data));
  port.postMessage('ready');
});
