"""PyTorch: a small convolutional net trained for a few steps; ATen's parallel_for and oneDNN are OpenMP."""
import torch

torch.manual_seed(1)
torch.set_num_threads(2)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.ReLU(),
    torch.nn.Flatten(), torch.nn.Linear(16 * 32 * 32, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
images, labels = torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))
for _ in range(12):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
print("loss", loss.item())
big = torch.randn(1500, 1500)
print("softmax", torch.softmax(big @ big.t() / 100, dim=1).diagonal().sum().item())
