/** Icons, all of one set (Lucide). Beside a word they say nothing to a screen reader; alone, a button names itself. */
import {
  Activity, ArrowDown, ArrowLeft, ArrowUp, Ban, BookOpen, Bot, Box, Check, ChevronDown, ChevronRight, CircleAlert, CircleCheck, CircleHelp, CircleStop, CircleX, Clock, Coins, Copy, Cpu, Download, Ellipsis,
  ExternalLink, File, FileDiff, FilePlus, Folder, FolderOpen, GitBranch, Globe, History, Home, type IconNode, Image, Info, Key, Languages, LayoutDashboard, ListTree, LoaderCircle, LogOut, Menu, MessageSquare, MessageSquarePlus,
  Monitor, Moon, Paperclip, Pause, Pencil, Pin, PinOff, Play, Plug, Plus, Power, Puzzle, RefreshCw, RotateCcw, Save, ScrollText, Search, Send, Server, Settings, ShieldCheck, SlidersHorizontal, Sparkles, Square, Star, Stethoscope,
  Sun, Terminal, Trash2, TriangleAlert, Unplug, Upload, User, Users, WifiOff, Wrench, X, Zap,
} from 'lucide';
import { h } from 'preact';

const ICONS = {
  activity: Activity, 'arrow-down': ArrowDown, 'arrow-left': ArrowLeft, 'arrow-up': ArrowUp, ban: Ban, 'book-open': BookOpen, bot: Bot, box: Box, check: Check, 'chevron-down': ChevronDown, 'chevron-right': ChevronRight, 'circle-alert': CircleAlert,
  'circle-check': CircleCheck, 'circle-help': CircleHelp, 'circle-stop': CircleStop, 'circle-x': CircleX, clock: Clock, coins: Coins, copy: Copy, cpu: Cpu, download: Download, ellipsis: Ellipsis, 'external-link': ExternalLink, file: File,
  'file-diff': FileDiff, 'file-plus': FilePlus, folder: Folder, 'folder-open': FolderOpen, 'git-branch': GitBranch, globe: Globe, history: History, home: Home, image: Image, info: Info, key: Key, languages: Languages, 'layout-dashboard': LayoutDashboard,
  'list-tree': ListTree, 'loader-circle': LoaderCircle, 'log-out': LogOut, menu: Menu, 'message-square': MessageSquare, 'message-square-plus': MessageSquarePlus, monitor: Monitor, moon: Moon, paperclip: Paperclip, pause: Pause,
  pencil: Pencil, pin: Pin, 'pin-off': PinOff, play: Play, plug: Plug, plus: Plus, power: Power, puzzle: Puzzle, 'refresh-cw': RefreshCw, 'rotate-ccw': RotateCcw, save: Save, 'scroll-text': ScrollText, search: Search, send: Send, server: Server, settings: Settings,
  'shield-check': ShieldCheck, 'sliders-horizontal': SlidersHorizontal, sparkles: Sparkles, square: Square, star: Star, stethoscope: Stethoscope, sun: Sun, terminal: Terminal, 'trash-2': Trash2, 'triangle-alert': TriangleAlert, unplug: Unplug, upload: Upload,
  user: User, users: Users, 'wifi-off': WifiOff, wrench: Wrench, x: X, zap: Zap,
} satisfies Readonly<Record<string, IconNode>>;

export type IconName = keyof typeof ICONS;

const isIcon = (name: string): name is IconName => Object.hasOwn(ICONS, name);

/** A name that an extension wrote and the set does not have is drawn as a piece of a puzzle. */
export const iconNamed = (name: string): IconName => (isIcon(name) ? name : 'puzzle');

export const Icon = ({ name, size = 18, spins = false }: { name: IconName; size?: number; spins?: boolean }) => (
  <svg class={spins ? 'icon spins' : 'icon'} width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
    {ICONS[name].map(([tag, attributes]) => h(tag, attributes))}
  </svg>
);
