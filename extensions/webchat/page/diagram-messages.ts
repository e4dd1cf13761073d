/** What the page and the frame that draws diagrams say to each other. */

export interface DiagramColours {
  readonly surface: string;
  readonly sunk: string;
  readonly text: string;
  readonly muted: string;
  readonly edge: string;
  readonly accent: string;
  readonly accentSoft: string;
}

export interface DiagramRequest {
  readonly id: number;
  readonly text: string;
  readonly maxChars: number;
  readonly isDark: boolean;
  readonly colours: DiagramColours;
  readonly fontFamily: string;
}

/** Sizes in CSS pixels. */
export type DiagramAnswer = { readonly id: number; readonly svg: string; readonly width: number; readonly height: number } | { readonly id: number; readonly fault: string };
