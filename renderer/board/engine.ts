/** The board behind its canvas: camera, frames, and what the pointer, the keyboard and the stores ask of it. */

import type { Refusal } from "../../shared/mig/types.ts";
import type { Theme } from "../app/theme.ts";
import { useTheme } from "../app/theme.ts";
import { go } from "../app/views.ts";
import { formatIn } from "../i18n/format.ts";
import { t, useLanguageStore } from "../i18n/index.ts";
import { useDraft } from "../partition/draft.ts";
import { factsFor } from "../partition/facts.ts";
import { refusalWords } from "../partition/words.ts";
import { useColouring } from "../stores/colouring.ts";
import { useFilter } from "../stores/filter.ts";
import { useSelection } from "../stores/selection.ts";
import { useSnapshot } from "../stores/snapshot.ts";
import {
  type Box,
  type Camera,
  clamp,
  createBeyond,
  fitCamera,
  inSight,
  inSightWhole,
  maxZoom,
  panBy,
  reveal,
  type Size,
  within,
  zoomAt,
} from "./camera.ts";
import { createDragTargets } from "./drag-targets.ts";
import { type Hit, hitTest, hostsIn } from "./hit.ts";
import { compactZoom, metrics, stripBox } from "./layout.ts";
import { createLiveScene, type LiveScene } from "./live-scene.ts";
import { createMotion } from "./motion.ts";
import { createNews } from "./news.ts";
import { paintOverlay } from "./overlay.ts";
import type { Frame } from "./paint-card.ts";
import { createTiles } from "./tiles.ts";
import { useBoardView } from "./view-state.ts";
import type { Focus } from "./walk.ts";

export interface Board {
  readonly scene: LiveScene;
  readonly camera: Camera;
  /** CSS pixels relative to the canvas. */
  hitAt(viewX: number, viewY: number): Hit | null;
  pan(viewX: number, viewY: number): void;
  zoom(factor: number, viewX: number, viewY: number): void;
  /** Zooms around the middle. */
  step(factor: number): void;
  fit(): void;
  /** Brings a host, or a GPU in it, into sight; zooms in where names would not be legible. */
  reveal(focus: Focus, readable: boolean): void;
  /** Where the thing lies on the screen, in CSS pixels relative to the canvas. */
  boxOf(focus: Focus): Box | null;
  setFocused(focused: boolean): void;
  /** CSS pixels at the foot that the legend covers: the board's content ends above them. */
  setFoot(height: number): void;
  setHover(hover: { hit: Hit; x: number; y: number } | null): void;
  /** Where a drag is; null when it left. */
  setDragPoint(point: { x: number; y: number } | null): void;
  destroy(): void;
}

/** Milliseconds of painting a frame: little while something follows the hand, more while news comes in at rest. */
const movingBudgetMs = 6;
const restingBudgetMs = 30;
/** Until the legend has said how high it is. */
const usualFootPx = 40;

export function createBoard(canvas: HTMLCanvasElement, frameElement: HTMLElement): Board {
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) throw new Error("no canvas 2D");
  let view: Size = { width: frameElement.clientWidth || 1, height: frameElement.clientHeight || 1 };
  let ratio = window.devicePixelRatio || 1;
  let footPx = usualFootPx;
  const scene = createLiveScene(useTheme.getState().theme, view.width, view.height - footPx);
  const tiles = createTiles();
  const targets = createDragTargets();
  const { clusterId, camera: left } = useBoardView.getState().left ?? { clusterId: null, camera: null };
  // Back from the host view: where one was.
  const returns = left !== null && clusterId === useSnapshot.getState().activeClusterId;
  let fitted = !returns;
  let focused = false;
  let dragPoint: { x: number; y: number } | null = null;
  let frameAsked = false;
  let paintAll = true;
  const stop: (() => void)[] = [];

  const world = (): Size => ({ width: scene.layout.width, height: scene.layout.height });
  /** The foot of the board belongs to the legend. */
  const room = (): Size => ({ width: view.width, height: Math.max(1, view.height - footPx) });
  /** The window that the camera was fitted to. */
  let fittedTo = view;
  const refit = () => {
    fittedTo = view;
    motion.camera = fitCamera(world(), room(), metrics.maxFitZoom);
  };

  const ask = () => {
    if (frameAsked) return;
    frameAsked = true;
    requestAnimationFrame(draw);
  };
  const motion = createMotion(ask, () => useBoardView.setState((state) => ({ moved: state.moved + 1 })));
  const news = createNews(ask);

  const takeNews = () => {
    if (!news.isRipe()) return;
    refresh();
    news.taken();
  };

  const draw = (now: number) => {
    frameAsked = false;
    takeNews();
    motion.advance(now);
    const { camera } = motion;
    const width = Math.round(view.width * ratio);
    const height = Math.round(view.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const scale = camera.zoom * ratio;
    const complete = tiles.draw(context, { x: camera.x, y: camera.y, scale, width, height, ratio }, scene, {
      zooming: motion.zooming,
      budgetMs: paintAll ? Number.POSITIVE_INFINITY : motion.moving ? movingBudgetMs : restingBudgetMs,
      rackSummary: scene.rackSummary,
    });
    paintAll = false;
    if (!complete && !motion.zooming) ask();

    const frame: Frame = {
      ctx: context,
      scale,
      originX: Math.round(camera.x * scale),
      originY: Math.round(camera.y * scale),
      ratio,
      fontFamily: scene.palette.fontFamily,
    };
    const visible = hostsIn(scene.layout, camera.x, camera.y, view.width / camera.zoom, view.height / camera.zoom);
    const { selected, markedGpus } = useSelection.getState();
    const { drag, aim, wantedByGpu } = useDraft.getState();
    const boardView = useBoardView.getState();
    targets.beginFrame();
    const hit = drag === null || dragPoint === null ? null : hitAt(dragPoint.x, dragPoint.y);
    paintOverlay(frame, scene, {
      visible,
      selected,
      marked: markedGpus,
      focus: focused ? boardView.focus : null,
      hover: boardView.hover?.hit ?? null,
      wanted: wantedByGpu,
      drag:
        drag === null
          ? null
          : { targets: targets.of, label: drag.profile, aim, over: hit === null ? null : overOf(hit) },
    });
    if (targets.unfinished) ask();
    if (boardView.zoom !== camera.zoom) useBoardView.setState({ zoom: camera.zoom });
  };

  /** Nearer than the board goes is the host itself. */
  const beyond = createBeyond();
  const open = (hit: Hit | null) => {
    const hostId = hit === null ? undefined : scene.layout.hostIds[hit.hostIndex];
    if (hostId !== undefined) go("host", hostId);
  };

  const overOf = (hit: Hit) => {
    const uuid = hit.gpu === null ? null : scene.gpuUuid(hit.hostIndex, hit.gpu);
    if (uuid === null || hit.slice === null) return null;
    return { hit, target: useDraft.getState().targetAt(uuid, hit.slice) };
  };

  /** The rule, and what would work. */
  const sentenceOf = (hit: Hit, refusal: Refusal): string => {
    const uuid = hit.gpu === null ? null : scene.gpuUuid(hit.hostIndex, hit.gpu);
    const format = formatIn(useLanguageStore.getState().language);
    const words = refusalWords(t, format, refusal, uuid === null ? null : factsFor(uuid));
    return [words.rule, words.instead].filter((part) => part !== null).join(" ");
  };

  const hitAt = (viewX: number, viewY: number): Hit | null => {
    const { x, y, zoom } = motion.camera;
    return hitTest(scene.layout, scene.cells, x + viewX / zoom, y + viewY / zoom, zoom < compactZoom);
  };

  const clamped = (next: Camera): Camera => clamp(next, world(), room(), metrics.maxFitZoom);
  const moveTo = (next: Camera) => {
    fitted = false;
    motion.moveTo(clamped(next));
  };
  const glideTo = (next: Camera) => motion.glideTo(clamped(next));

  const worldBox = (focus: Focus): Box | null => {
    const { layout } = scene;
    const x = layout.hostX[focus.hostIndex];
    const y = layout.hostY[focus.hostIndex];
    if (x === undefined || y === undefined) return null;
    if (focus.gpu === null) {
      return { x, y, width: layout.cardWidth, height: layout.hostHeight[focus.hostIndex] ?? 0 };
    }
    const cells = scene.cells(focus.hostIndex);
    const box = stripBox(focus.gpu, cells?.gpuCount ?? 1, layout, motion.camera.zoom < compactZoom);
    const slices = cells?.gpuSlices[focus.gpu] ?? 1;
    const from = focus.slice === null ? 0 : focus.slice / slices;
    const part = focus.slice === null ? 1 : 1 / slices;
    return { x: x + box.x + box.width * from, y: y + box.y, width: box.width * part, height: box.height };
  };

  /** The host of what is aimed at, else of what is selected: a GPU is read beside its neighbours. */
  const attended = (): Focus | null => {
    const { aim } = useDraft.getState();
    const { selected } = useSelection.getState();
    const hostId = aim === null ? selected?.hostId : factsFor(aim.gpuUuid)?.hostId;
    const hostIndex = hostId === undefined ? undefined : scene.layout.indexOf.get(hostId);
    return hostIndex === undefined ? null : { hostIndex, gpu: null, slice: null };
  };
  /**
   * Makes a change of the window or of its foot. What is aimed at or selected and was in sight stays so, at the zoom
   * that there is and by no more than is needed.
   */
  const keepInSight = (change: () => void) => {
    motion.arrive();
    const focus = attended();
    const before = focus === null ? null : worldBox(focus);
    const seen = before !== null && inSight(motion.camera, before, room());
    change();
    const box = seen && focus !== null ? worldBox(focus) : null;
    if (box !== null && !inSightWhole(motion.camera, box, room())) {
      motion.camera = reveal(motion.camera, box, room());
    }
    motion.moved();
    ask();
  };

  const refresh = () => {
    const change = scene.update();
    if (change.arranged && fitted) refit();
    if (change.everything) {
      tiles.invalidate();
      paintAll = true;
    } else {
      tiles.invalidateHosts(scene, change.hosts);
      tiles.invalidateRacks(scene, change.racks);
    }
    if (change.arranged) motion.camera = clamped(motion.camera);
    if (change.everything || change.hosts.length > 0) ask();
    if (change.arranged) motion.moved();
  };

  const resize = new ResizeObserver(() => {
    const next = { width: frameElement.clientWidth || 1, height: frameElement.clientHeight || 1 };
    const nextRatio = window.devicePixelRatio || 1;
    if (next.width === view.width && next.height === view.height && nextRatio === ratio) return;
    // The arrangement follows the window, not the panels that open beside the board: hosts stay where they were seen.
    const windowChanged =
      nextRatio !== ratio || window.innerWidth !== windowWidth || window.innerHeight !== windowHeight;
    windowWidth = window.innerWidth;
    windowHeight = window.innerHeight;
    paintAll = true;
    keepInSight(() => {
      view = next;
      ratio = nextRatio;
      // A panel opened or closed: what lies under the pointer stays there, at its scale.
      if (!windowChanged) motion.camera = within(motion.camera, world(), room());
      else {
        scene.arrange(view.width, view.height - footPx);
        tiles.invalidate();
        if (fitted) refit();
        else motion.camera = clamped(motion.camera);
      }
    });
  });
  let windowWidth = window.innerWidth;
  let windowHeight = window.innerHeight;
  resize.observe(frameElement);
  stop.push(() => resize.disconnect());

  stop.push(
    useSnapshot.subscribe((state, before) => {
      if (state.hosts === before.hosts && state.hostIds === before.hostIds) return;
      scene.take();
      news.came();
    }),
    news.stop,
    motion.stop,
  );
  stop.push(useColouring.subscribe(refresh));
  stop.push(useFilter.subscribe(refresh));
  stop.push(
    useLanguageStore.subscribe(() => {
      scene.tick();
      tiles.invalidate();
      paintAll = true;
      ask();
    }),
  );
  stop.push(
    useTheme.subscribe(({ theme }: { readonly theme: Theme }) => {
      scene.setTheme(theme);
      refresh();
    }),
  );
  stop.push(useSelection.subscribe(ask));
  stop.push(
    useDraft.subscribe((state, before) => {
      if (state.drag !== before.drag || state.wantedByGpu !== before.wantedByGpu) targets.forget();
      ask();
    }),
  );
  const clock = window.setInterval(() => {
    const hosts = scene.tick();
    tiles.invalidateHosts(scene, hosts);
    if (hosts.length > 0) ask();
  }, 5_000);
  stop.push(() => window.clearInterval(clock));

  scene.update();
  if (returns) motion.camera = clamped(left);
  else refit();
  ask();

  return {
    scene,
    get camera() {
      return motion.camera;
    },
    hitAt,
    pan: (viewX, viewY) => moveTo(panBy(motion.camera, viewX, viewY)),
    zoom: (factor, viewX, viewY) => {
      if (beyond.of(motion.camera.zoom, factor)) open(hitAt(viewX, viewY));
      else moveTo(zoomAt(motion.camera, factor, viewX, viewY));
    },
    step: (factor) => {
      if (factor > 1 && motion.target.zoom >= maxZoom) {
        open(useBoardView.getState().focus ?? hitAt(view.width / 2, view.height / 2));
        return;
      }
      fitted = false;
      glideTo(zoomAt(motion.target, factor, view.width / 2, view.height / 2));
    },
    fit: () => {
      fitted = true;
      glideTo(fitCamera(world(), room(), metrics.maxFitZoom));
    },
    reveal: (focus, readable) => {
      const before = motion.target;
      const box = worldBox(focus);
      if (box === null) return;
      let next = before;
      if (readable && before.zoom < 0.8) {
        // Far away: go there, with the host in the middle.
        next = {
          zoom: 1,
          x: box.x + box.width / 2 - room().width / 2,
          y: box.y + box.height / 2 - room().height / 2,
        };
      } else next = reveal(before, box, room());
      if (next.x === before.x && next.y === before.y && next.zoom === before.zoom) return;
      fitted = false;
      glideTo(next);
    },
    boxOf: (focus) => {
      const box = worldBox(focus);
      if (box === null) return null;
      const { x, y, zoom } = motion.camera;
      return { x: (box.x - x) * zoom, y: (box.y - y) * zoom, width: box.width * zoom, height: box.height * zoom };
    },
    setFocused: (next) => {
      focused = next;
      ask();
    },
    setFoot: (height) => {
      if (height === footPx) return;
      keepInSight(() => {
        footPx = height;
        // Not while a panel takes part of the window: then the board would come at another scale.
        if (fitted && view.width === fittedTo.width && view.height === fittedTo.height) refit();
        else motion.camera = within(motion.camera, world(), room());
      });
    },
    setHover: (hover) => {
      const before = useBoardView.getState().hover;
      if (hover === null && before === null) return;
      useBoardView.setState({ hover });
      ask();
    },
    setDragPoint: (point) => {
      dragPoint = point;
      motion.follow();
      const hit = point === null ? null : hitAt(point.x, point.y);
      const over = hit === null || useDraft.getState().drag === null ? null : overOf(hit);
      const refusal =
        point === null || over === null || over.target.legal
          ? null
          : { sentence: sentenceOf(over.hit, over.target.refusal), x: point.x, y: point.y };
      if (refusal !== null || useBoardView.getState().refusal !== null) useBoardView.setState({ refusal });
      ask();
    },
    destroy: () => {
      const { activeClusterId } = useSnapshot.getState();
      useBoardView.setState({
        left: fitted || activeClusterId === null ? null : { clusterId: activeClusterId, camera: motion.target },
      });
      for (const end of stop) end();
    },
  };
}
