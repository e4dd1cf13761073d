/**
 * What the page and its panels are made of. One module for all of them, at one address: they share its state, its
 * components and its connection.
 */
export { Fragment, jsx, jsxs } from './jsx-runtime.js';
export { Component, type ComponentChildren, type ComponentType, createContext, type JSX, type RefObject, render, type VNode } from 'preact';
export { useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
export { batch, computed, effect, type ReadonlySignal, type Signal, signal, untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';
export { AbortedError, ClientError, ConnectionError, type EventOf, type InputOf, type OperationId, type OutputOf, SvcError, TimeoutError } from '@svc/client';
export { followEvents, type FollowOptions, followSession, streamMessage } from '@svc/client/stream';
export { address, addressOf, go, type Place, setQuery } from './address.js';
export { useAgain } from './again.js';
export { caller, type Caller, loadCaller, may, mustLogIn, needs, onRefused, whyNot } from './caller.js';
export * from './components/index.js';
export { daemon } from './daemon.js';
export { type Highlighted, highlighter } from './highlighter.js';
export { keep, kept } from './kept.js';
export { type Draft, useDraft, type Versioned } from './draft.js';
export { useFresh } from './fresh.js';
export { type ChangeKind, connection, type Connection, startLive, useChanges } from './live.js';
export { forgetEarly, type Loaded, loadEarly, useLoaded } from './loading.js';
export { useCode } from './later-code.js';
export { memo } from './memo.js';
export { ago, bytes, count, dateTime, duration, money, shortId, timeOfInterval } from './numbers.js';
export { type OfferedPanel, offeredPanels, setOffered, useOffered } from './offered.js';
export { definePanel, type PanelDefinition, type PanelProps } from './panel.js';
export { saveFile } from './save-file.js';
export { loadStyle } from './style.js';
export { runShortcut, type Shortcut, type ShortcutGroup, shortcutGroups, useShortcuts, withCtrl } from './shortcuts.js';
export { contrast, isDark, matchesMedia, setTheme, theme, type Theme } from './theme.js';
export { useViewTitle, viewTitle } from './view-title.js';
export { chooseLanguage, type Language, language, LANGUAGES, type Words, words } from './words.js';
